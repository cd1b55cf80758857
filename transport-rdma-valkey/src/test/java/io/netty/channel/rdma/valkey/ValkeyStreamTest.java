/*
 * Copyright 2026 The Netty Project
 *
 * The Netty Project licenses this file to you under the Apache License,
 * version 2.0 (the "License"); you may not use this file except in compliance
 * with the License. You may obtain a copy of the License at:
 *
 *   https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
 * License for the specific language governing permissions and limitations
 * under the License.
 */
package io.netty.channel.rdma.valkey;

import io.netty.channel.rdma.stream.ReceiveArea;
import io.netty.channel.rdma.stream.StreamConfig;
import io.netty.channel.rdma.stream.StreamEvent;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.stream.StreamState;
import io.netty.channel.rdma.stream.StreamWorkRequest;
import io.netty.channel.rdma.stream.StreamWorkRequest.Kind;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.statistics.Statistics;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The state machine of one connection: what it says, and whatever a peer may say to it. */
@Tag("quick")
class ValkeyStreamTest {
    private static final long ADDRESS = 0x7000_0000L;
    private static final int KEY = 77;
    private static final int SEGMENT = 100;
    private static final StreamConfig CONFIG = new StreamConfig(36, 1000, 4, 2, 250);

    private final ReceiveArea area = new ReceiveArea(ADDRESS, KEY, 2, SEGMENT);
    private final ValkeyMessage message = new ValkeyMessage();

    private ValkeyStream client() {
        return established(ValkeyProtocol.CLIENT);
    }

    private ValkeyStream server() {
        return established(ValkeyProtocol.SERVER);
    }

    private ValkeyStream established(ValkeyProtocol role) {
        ValkeyStream stream = new ValkeyStream(role, CONFIG, area);
        stream.establish(ByteBuffer.allocate(0));
        return stream;
    }

    private static StreamEvent receive(ValkeyStream stream, ValkeyMessage message) throws StreamProtocolException {
        return stream.receiveSent(ByteBuffer.wrap(message.bytes()), 0);
    }

    private StreamEvent registered(ValkeyStream stream, long address, int length) throws StreamProtocolException {
        return receive(stream, message.registerMemory(address, length, 5));
    }

    private StreamEvent answered(ValkeyStream stream) throws StreamProtocolException {
        return receive(stream, message.features(ValkeyMessage.GET_FEATURES, 0, 0));
    }

    /** The numbers of the messages that are due; "write" is the one that is none. */
    private static List<String> control(ValkeyStream stream) {
        List<String> all = new ArrayList<>();
        for (StreamWorkRequest request; (request = stream.nextControl()) != null;) {
            all.add(request.kind() == Kind.KEEP_ALIVE ? "write" : String.valueOf(request.message()[1]));
        }
        return all;
    }

    private static void assertBroken(ValkeyStream stream, String why,
                                     ThrowingCallable what) {
        assertThatThrownBy(what).isInstanceOf(StreamProtocolException.class).hasMessageContaining(why);
        assertThat(stream.state()).isEqualTo(StreamState.FAILED);
        assertThat(stream.nextControl()).isNull();
        assertThat(stream.writable()).isZero();
        assertThat(stream.isDrained()).isTrue();
    }

    @Test
    void clientAsksForFeaturesRegistersMemoryAndEnablesNothing() throws Exception {
        ValkeyStream stream = new ValkeyStream(ValkeyProtocol.CLIENT, CONFIG, area);
        assertThat(stream.nextControl()).as("not established").isNull();
        assertThat(stream.privateData(1, 1)).isEmpty();
        stream.establish(ByteBuffer.allocate(0));

        assertThat(control(stream)).containsExactly("0", "3");
        receive(stream, message.features(ValkeyMessage.GET_FEATURES, 0, -1));
        StreamWorkRequest set = stream.nextControl();
        assertThat(message.read(ByteBuffer.wrap(set.message()), 0).opcode()).isEqualTo(ValkeyMessage.SET_FEATURES);
        assertThat(message.features()).as("features that are not known here").isZero();
        assertThat(control(stream)).isEmpty();
    }

    @Test
    void serverRegistersMemoryAndAnswersWithTheSelectorAndNoFeatures() throws Exception {
        ValkeyStream stream = server();
        assertThat(control(stream)).containsExactly("3");
        receive(stream, message.features(ValkeyMessage.GET_FEATURES, 7, 0));
        receive(stream, message.features(ValkeyMessage.GET_FEATURES, 8, 0));
        for (int select = 7; select <= 8; select++) {
            message.read(ByteBuffer.wrap(stream.nextControl().message()), 0);
            assertThat(message.opcode()).isEqualTo(ValkeyMessage.GET_FEATURES);
            assertThat(message.select()).isEqualTo(select);
            assertThat(message.features()).isZero();
        }
        receive(stream, message.features(ValkeyMessage.SET_FEATURES, 0, 0));
        receive(stream, message.keepAlive());
        assertThat(control(stream)).isEmpty();
    }

    @Test
    void bytesGoBehindOneAnotherIntoWhatThePeerHasRegistered() throws Exception {
        ValkeyStream stream = client();
        control(stream);
        assertThat(stream.writable()).isZero();
        assertThat(stream.isHeldUpByPeer()).isTrue();
        assertThat(registered(stream, 0x5000, 30)).isEqualTo(StreamEvent.CREDIT);
        assertThat(stream.writable()).isEqualTo(30);
        StreamWorkRequest request = stream.write(10);
        assertThat(request.kind()).isEqualTo(Kind.DATA);
        assertThat(request.remoteAddress()).isEqualTo(0x5000);
        assertThat(request.remoteKey()).isEqualTo(5);
        assertThat(request.immediate()).isEqualTo(10);
        assertThat(stream.writable()).isEqualTo(20);
        assertThat(stream.write(20).remoteAddress()).isEqualTo(0x500A);
        assertThat(stream.writable()).isZero();
        registered(stream, 0x9000, 8);
        assertThat(stream.writable()).isEqualTo(8);
        assertThat(stream.write(1).remoteAddress()).isEqualTo(0x9000);
    }

    @Test
    void memoryIsAnnouncedAgainWhenItIsFullAndTheOtherHalfIsFree() throws Exception {
        ValkeyStream stream = server();
        control(stream);
        assertThat(stream.receive(60, 60)).isEqualTo(StreamEvent.DATA);
        assertThat(control(stream)).isEmpty();
        // Bytes that were written without immediate data before count too.
        assertThat(stream.receive(40, 1)).isEqualTo(StreamEvent.DATA);
        assertThat(stream.arrival().offset()).isEqualTo(60);
        assertThat(stream.arrival().filled()).isTrue();
        assertThat(stream.offeredBytes()).isZero();
        message.read(ByteBuffer.wrap(stream.nextControl().message()), 0);
        assertThat(message.address()).isEqualTo(ADDRESS + SEGMENT);
        assertThat(message.length()).isEqualTo(SEGMENT);
        assertThat(message.key()).isEqualTo(KEY);
        stream.receive(SEGMENT, SEGMENT);
        assertThat(control(stream)).as("the application has both").isEmpty();
        area.release(0);
        message.read(ByteBuffer.wrap(stream.nextControl().message()), 0);
        assertThat(message.address()).isEqualTo(ADDRESS);
    }

    @Test
    void clientWaitsForAServerThatIsNotKnownToTakeItsMessages() throws Exception {
        ValkeyStream stream = client();
        control(stream);
        answered(stream);
        control(stream);
        registered(stream, 0x5000, 1 << 20);
        int sent = 0;
        while (stream.writable() > 0) {
            stream.write(1);
            sent++;
            if (sent == ValkeyStream.ASK_AFTER) {
                assertThat(control(stream)).containsExactly("0");
            }
        }
        assertThat(sent).as("without memory, features and the second question, which came behind the first one")
                .isEqualTo(ValkeyStream.MAX_UNCONFIRMED - 3);
        assertThat(stream.isHeldUpByPeer()).isTrue();
        stream.keepAlive();
        assertThat(control(stream)).as("which no receive is needed for").containsExactly("write");
        answered(stream);
        assertThat(stream.writable()).isPositive();
        assertThat(control(stream)).containsExactly("0");
    }

    @Test
    void requestAfterWhichTheClientWaitsAsksForItsCompletion() throws Exception {
        ValkeyStream stream = client();
        control(stream);
        answered(stream);
        registered(stream, 0x5000, 1 << 20);
        StreamWorkRequest last = null;
        while (stream.writable() > 0) {
            last = stream.write(1);
        }
        assertThat(last.signalled()).isTrue();
    }

    @Test
    void registeredMemoryShowsThatAllBeforeWasTaken() throws Exception {
        ValkeyStream stream = client();
        control(stream);
        int length = ValkeyStream.MAX_UNCONFIRMED - 10;
        for (int i = 0; i < 3; i++) {
            registered(stream, 0x5000, length);
            for (int sent = 0; sent < length; sent++) {
                assertThat(stream.writable()).isPositive();
                stream.sendQueue().completed(stream.write(1).sequence());
            }
        }
        // The peer may not have seen what came behind the last byte.
        control(stream);
        for (int i = 0; i < 5; i++) {
            stream.keepAlive();
            assertThat(control(stream)).containsExactly("2");
        }
        registered(stream, 0x5000, 1 << 20);
        int sent = 0;
        for (; stream.writable() > 0; sent++) {
            stream.write(1);
        }
        assertThat(sent).isBetween(ValkeyStream.MAX_UNCONFIRMED - 6, ValkeyStream.MAX_UNCONFIRMED - 5);
    }

    @Test
    void serverDoesNotAskAndDoesNotWait() throws Exception {
        ValkeyStream stream = server();
        control(stream);
        registered(stream, 0x5000, 900);
        for (int i = 0; i < 900; i++) {
            assertThat(stream.writable()).isPositive();
            stream.write(1);
        }
        assertThat(control(stream)).isEmpty();
    }

    @Test
    void keepAliveIsAMessageThatAsksForItsCompletion() {
        ValkeyStream stream = server();
        control(stream);
        stream.keepAlive();
        StreamWorkRequest request = stream.nextControl();
        assertThat(request.kind()).isEqualTo(Kind.MESSAGE);
        assertThat(request.signalled()).isTrue();
        assertThat(request.message()[1]).isEqualTo((byte) ValkeyMessage.KEEP_ALIVE);
        assertThat(stream.nextControl()).isNull();
    }

    @Test
    void receivesArePostedAgainBeforeAQuestionIsAnsweredOrMemoryAnnounced() throws Exception {
        ValkeyStream stream = server();
        control(stream);
        stream.receive(1, 1);
        assertThat(stream.receivesToPost()).isZero();
        receive(stream, message.features(ValkeyMessage.GET_FEATURES, 0, 0));
        assertThat(stream.receivesToPost()).isEqualTo(2);
        control(stream);
        stream.receive(SEGMENT - 1, SEGMENT - 1);
        assertThat(stream.receivesToPost()).isEqualTo(1);
        control(stream);
        for (int i = 0; i < 10; i++) {
            assertThat(stream.receivesToPost()).isZero();
            stream.receive(1, 1);
        }
        assertThat(stream.receivesToPost()).as("a quarter of them").isEqualTo(10);
    }

    @Test
    void endWaitsForAllThatWasWrittenAndSaysNothingToThePeer() throws Exception {
        ValkeyStream stream = server();
        control(stream);
        registered(stream, 0x5000, 900);
        stream.writable();
        assertThat(stream.write(10).signalled()).isFalse();
        stream.disconnect();
        assertThat(stream.writable()).isZero();
        assertThat(stream.state()).isEqualTo(StreamState.CLOSING);
        StreamWorkRequest last = stream.nextControl();
        assertThat(last.kind()).isEqualTo(Kind.KEEP_ALIVE);
        assertThat(last.signalled()).isTrue();
        assertThat(stream.state()).isEqualTo(StreamState.DISCONNECTED);
        assertThat(stream.isDrained()).isFalse();
        stream.sendQueue().completed(last.sequence());
        assertThat(stream.isDrained()).isTrue();
    }

    @Test
    void endOfAnIdleConnectionSendsNothing() {
        ValkeyStream stream = established(ValkeyProtocol.SERVER);
        control(stream);
        stream.sendQueue().signal();
        stream.sendQueue().completed(0);
        stream.disconnect();
        assertThat(stream.nextControl()).isNull();
        assertThat(stream.isDrained()).isTrue();
        assertThat(stream.state()).isEqualTo(StreamState.DISCONNECTED);
    }

    @Test
    void disconnectOfThePeerEndsTheWaitForWhatWasWritten() throws Exception {
        ValkeyStream stream = server();
        control(stream);
        registered(stream, 0x5000, 900);
        stream.writable();
        stream.write(10);
        stream.disconnect();
        control(stream);
        assertThat(stream.isDrained()).isFalse();
        stream.disconnectedByPeer();
        assertThat(stream.isDrained()).isTrue();
    }

    @Test
    void disconnectIsTheEndOfThePeersStream() {
        ValkeyStream stream = client();
        assertThat(stream.disconnectedByPeer()).isTrue();
        assertThat(stream.state()).isEqualTo(StreamState.DISCONNECTED);
        assertThat(stream.isDrained()).isTrue();
        assertThat(stream.isEndedByPeer()).isFalse();
    }

    @Test
    void announcementOfNothingIsAccepted() throws Exception {
        ValkeyStream stream = client();
        assertThat(stream.receive(0, 0)).isEqualTo(StreamEvent.KEEP_ALIVE);
        control(stream);
        assertThat(stream.receive(0, 0)).isEqualTo(StreamEvent.KEEP_ALIVE);
    }

    // ---- hostile peers

    @ParameterizedTest
    @CsvSource({
            "101, 101, announced 101 bytes where 100 were left",
            "100, 101, wrote 101 bytes but announced 100",
            "0, 1, wrote 1 bytes but announced 0",
            "-1, 100, announced 4294967295 bytes",
            "-2147483648, 0, announced 2147483648 bytes",
    })
    void wrongNumbersOfBytes(int announced, int written, String why) {
        for (ValkeyProtocol role : ValkeyProtocol.values()) {
            ReceiveArea memory = new ReceiveArea(ADDRESS, KEY, 2, SEGMENT);
            ValkeyStream stream = new ValkeyStream(role, CONFIG, memory);
            stream.establish(null);
            control(stream);
            assertBroken(stream, why, () -> stream.receive(announced, written));
        }
    }

    @Test
    void moreBytesThanAreLeft() throws Exception {
        ValkeyStream stream = client();
        control(stream);
        stream.receive(60, 60);
        assertBroken(stream, "announced 41 bytes where 40 were left", () -> stream.receive(41, 41));
        assertThatThrownBy(() -> stream.receive(1, 1)).as("afterwards")
                .isInstanceOf(StreamProtocolException.class);
    }

    @ParameterizedTest
    @EnumSource(ValkeyProtocol.class)
    void bytesBeforeMemoryWasAnnounced(ValkeyProtocol role) {
        ValkeyStream stream = established(role);
        assertBroken(stream, "where 0 were left", () -> stream.receive(1, 1));
    }

    @Test
    void bytesWhileTheApplicationHasAllMemory() throws Exception {
        ValkeyStream stream = client();
        control(stream);
        stream.receive(SEGMENT, SEGMENT);
        control(stream);
        stream.receive(SEGMENT, SEGMENT);
        control(stream);
        assertBroken(stream, "where 0 were left", () -> stream.receive(1, 1));
    }

    @ParameterizedTest
    @CsvSource({
            "0x5000, 0, empty receive buffer",
            "-1, 2, past the end of the address space",
            "-4096, 0x7fffffff, past the end of the address space",
            "-0x100000000, -1, ''",
            "0, -1, ''",
    })
    void memoryThatCannotBe(String address, String length, String why) throws Exception {
        ValkeyStream stream = client();
        long at = Long.decode(address);
        int bytes = Integer.decode(length);
        if (why.isEmpty()) {
            // As far as anyone can tell it could be: the peer's device says whether it is.
            registered(stream, at, bytes);
            assertThat(stream.writable()).isEqualTo(Integer.MAX_VALUE);
        } else {
            assertBroken(stream, why, () -> registered(stream, at, bytes));
        }
    }

    @Test
    void memoryBeforeTheLastOneIsFull() throws Exception {
        ValkeyStream stream = server();
        registered(stream, 0x5000, 30);
        stream.writable();
        stream.write(29);
        assertBroken(stream, "while 1 bytes were left", () -> registered(stream, 0x5000, 30));
    }

    @ParameterizedTest
    @CsvSource({"4", "255", "256", "65535"})
    void unknownNumbers(int opcode) {
        for (ValkeyProtocol role : ValkeyProtocol.values()) {
            ValkeyStream stream = established(role);
            assertBroken(stream, "unknown number " + opcode,
                    () -> receive(stream, message.features(opcode, 0, 0)));
        }
    }

    @Test
    void featuresThatNobodyAskedFor() throws Exception {
        ValkeyStream stream = client();
        control(stream);
        answered(stream);
        assertBroken(stream, "features that it was not asked for", () -> answered(stream));
    }

    @Test
    void featuresOfAnotherSelector() {
        ValkeyStream stream = client();
        control(stream);
        assertBroken(stream, "selector 1",
                () -> receive(stream, message.features(ValkeyMessage.GET_FEATURES, 1, 0)));
    }

    @Test
    void serverThatSetsFeatures() {
        ValkeyStream stream = client();
        assertBroken(stream, "a message of clients",
                () -> receive(stream, message.features(ValkeyMessage.SET_FEATURES, 0, 0)));
    }

    @Test
    void clientThatEnablesWhatWasNotOffered() {
        ValkeyStream stream = server();
        assertBroken(stream, "features 0x8000000000000000",
                () -> receive(stream, message.features(ValkeyMessage.SET_FEATURES, 0, Long.MIN_VALUE)));
    }

    @Test
    void clientThatAsksWithoutTakingAnswers() throws Exception {
        ValkeyStream stream = server();
        for (int i = 0; i < ValkeyStream.MAX_QUESTIONS; i++) {
            receive(stream, message.features(ValkeyMessage.GET_FEATURES, i, 0));
        }
        assertBroken(stream, "once more while 16 questions waited",
                () -> receive(stream, message.features(ValkeyMessage.GET_FEATURES, 0, 0)));
    }

    @Test
    void nothingIsTakenBeforeTheConnectionIsEstablished() {
        ValkeyStream stream = new ValkeyStream(ValkeyProtocol.SERVER, CONFIG, area);
        assertThat(stream.state()).isEqualTo(StreamState.NEW);
        assertThatThrownBy(() -> stream.receive(0, 0)).isInstanceOf(IllegalStateException.class);
    }

    /** Whatever arrives, nothing but the protocol's exception is thrown, and no byte goes where none is allowed. */
    @Property(tries = 2000)
    void anything(@ForAll boolean server, @ForAll @Size(max = 60) List<Integer> noise) {
        ReceiveArea memory = new ReceiveArea(ADDRESS, KEY, 2, SEGMENT);
        ValkeyStream stream = new ValkeyStream(server ? ValkeyProtocol.SERVER : ValkeyProtocol.CLIENT, CONFIG, memory);
        stream.establish(null);
        long arrived = 0;
        long wrote = 0;
        long left = 0;
        try {
            for (int each : noise) {
                int small = each & 0xFF;
                switch (each >>> 8 & 7) {
                case 0:
                    if (stream.receive(each >> 11, small) == StreamEvent.DATA) {
                        arrived += stream.arrival().length();
                    }
                    break;
                case 1:
                    if (stream.receive(small, Math.min(small, 3)) == StreamEvent.DATA) {
                        arrived += stream.arrival().length();
                    }
                    break;
                case 2:
                    receive(stream, message.registerMemory(each, small, each));
                    left = small;
                    break;
                case 3:
                    receive(stream, message.features((each >>> 11) % 3, small & 1, each >> 31));
                    break;
                case 4:
                    receive(stream, message.keepAlive());
                    break;
                case 5:
                    int n = Math.min(stream.writable(), 1 + small);
                    if (n > 0) {
                        int length = stream.write(n).length();
                        wrote += length;
                        left -= length;
                    }
                    assertThat(left).isNotNegative();
                    break;
                case 6:
                    for (int segment = 0; segment < 2; segment++) {
                        releaseIfFilled(memory, segment);
                    }
                    break;
                default:
                    stream.receivesToPost();
                    control(stream);
                }
            }
        } catch (StreamProtocolException e) {
            assertThat(stream.state()).isEqualTo(StreamState.FAILED);
        }
        assertThat(arrived).isLessThanOrEqualTo((long) noise.size() * SEGMENT);
        happens("arrived", arrived > 0);
        happens("wrote", wrote > 0);
    }

    /** Has the property fail if this is true in none of its tries. */
    private static void happens(String what, boolean is) {
        Statistics.label(what).collect(is);
        Statistics.label(what).coverage(each -> each.check(true).count(count -> count > 0));
    }

    private static void releaseIfFilled(ReceiveArea area, int segment) {
        try {
            area.release(segment);
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageContaining("is not filled");
        }
    }
}
