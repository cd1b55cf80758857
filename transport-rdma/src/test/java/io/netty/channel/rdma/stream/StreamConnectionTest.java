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
package io.netty.channel.rdma.stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.ByteOrder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * One connection against a peer played by the test: 4 credits each way, 3 segments of 100 bytes here, buffers of 50
 * bytes and a table of 2 entries at the peer.
 */
@Tag("platforms")
@Tag("quick")
class StreamConnectionTest {
    private static final int SHUTDOWN = Immediate.of(Immediate.CONTROL, Immediate.SHUTDOWN);
    private static final int DISCONNECT = Immediate.of(Immediate.CONTROL, Immediate.DISCONNECT);

    private final ReceiveArea area = new ReceiveArea(0x10000, 77, 3, 100);
    private final SimulatedQueuePair.ArraySgl sgl = new SimulatedQueuePair.ArraySgl(3, ByteOrder.nativeOrder());
    private StreamConnection connection;

    @BeforeEach
    void establish() {
        connection = new StreamConnection(new StreamConfig(4, 8, 2, 3, 8), area, sgl);
        assertThat(connection.state()).isEqualTo(StreamState.NEW);
        ConnectionData local = connection.localData(0x5000, 9);
        assertThat(local).isEqualTo(new ConnectionData(ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN, true, 4, 0x5000,
                9, 3, 0x10000, 77, 100));
        connection.establish(new ConnectionData(local.bigEndian(), true, 4, 0x7000, 8, 2, 0x8000, 6, 50));
        assertThat(connection.state()).isEqualTo(StreamState.OPEN);
    }

    @Test
    void theTableIsNotLookedAtBeforeThePeerGrantsSomething() throws StreamProtocolException {
        connection.write(connection.writable());
        assertThat(connection.writable()).isZero();
        assertThat(sgl.looks()).isZero();
        connection.receive(credit(5), 16);
        connection.writable();
        assertThat(sgl.looks()).isPositive();
    }

    @Test
    void dataGoesWhereThePeerSaid() throws StreamProtocolException {
        assertThat(connection.writable()).isEqualTo(50);
        StreamWorkRequest request = connection.write(20);
        assertThat(request.kind()).isEqualTo(StreamWorkRequest.Kind.DATA);
        assertThat(request.immediate()).isEqualTo(20);
        assertThat(request.remoteAddress()).isEqualTo(0x8000);
        assertThat(request.remoteKey()).isEqualTo(6);
        assertThat(request.length()).isEqualTo(20);
        assertThat(connection.writable()).isEqualTo(30);
        assertThat(connection.write(30).remoteAddress()).isEqualTo(0x8000 + 20);
        assertThat(connection.writable()).isZero();
    }

    @Test
    void theNextBufferIsEntryOneAndIsClearedWhenTaken() throws StreamProtocolException {
        connection.writable();
        connection.write(50);
        sgl.set(1, 0x9000, 5, 40);
        assertThat(connection.writable()).as("before the credit message").isZero();
        assertThat(connection.receive(credit(5), 16)).isEqualTo(StreamEvent.CREDIT);

        assertThat(connection.writable()).isEqualTo(40);
        assertThat(sgl.length(1)).isZero();
        sgl.set(1, 0xBAD, 0xBAD, 1000);
        StreamWorkRequest request = connection.write(40);
        assertThat(request.remoteAddress()).isEqualTo(0x9000);
        assertThat(request.remoteKey()).isEqualTo(5);
    }

    @Test
    void moreThanWritableIsRefused() throws StreamProtocolException {
        assertThatThrownBy(() -> connection.write(1)).isInstanceOf(IllegalArgumentException.class);
        connection.writable();
        assertThatThrownBy(() -> connection.write(51)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> connection.write(0)).isInstanceOf(IllegalArgumentException.class);
        connection.write(50);
    }

    @Test
    void writingStopsWithoutCreditsAndGoesOnWithThem() throws StreamProtocolException {
        for (int i = 0; i < 4; i++) {
            assertThat(connection.writable()).isPositive();
            connection.write(1);
        }
        assertThat(connection.writable()).isZero();
        assertThat(connection.sendQueue().hasDataSlot()).isTrue();
        connection.receive(credit(5), 0);
        assertThat(connection.writable()).isEqualTo(46);
    }

    @Test
    void sentMessagesSayAllThatThereIs() throws StreamProtocolException {
        assertThat(connection.receiveSent(70)).isEqualTo(StreamEvent.DATA);
        assertThat(connection.arrival().length()).isEqualTo(70);
        assertThat(connection.receiveSent(credit(4))).isEqualTo(StreamEvent.CREDIT);
        assertThat(connection.receiveSent(SHUTDOWN)).isEqualTo(StreamEvent.SHUTDOWN);
    }

    @Test
    void sentMessagesCannotClaimMoreThanTheBufferHasLeft() {
        assertThatThrownBy(() -> connection.receiveSent(101)).isInstanceOf(StreamProtocolException.class);
    }

    @Test
    void sentMessagesAreInTheByteOrderOfThePeer() throws StreamProtocolException {
        StreamConnection other = new StreamConnection(new StreamConfig(4, 8, 2, 3, 8),
                new ReceiveArea(0x10000, 77, 3, 100), sgl);
        other.establish(new ConnectionData(ByteOrder.nativeOrder() != ByteOrder.BIG_ENDIAN, true, 4, 0x7000, 8, 2,
                0x8000, 6, 50));
        assertThat(other.receiveSent(Integer.reverseBytes(70))).isEqualTo(StreamEvent.DATA);
        assertThat(other.arrival().length()).isEqualTo(70);
    }

    @Test
    void aLongBufferIsUsedInMessagesThatTheImmediateCanCarry() throws StreamProtocolException {
        connection.writable();
        connection.write(50);
        sgl.set(1, 0x9000, 5, -1);
        connection.receive(credit(5), 16);
        assertThat(connection.writable()).isEqualTo(Immediate.MAX_VALUE);
        assertThat(connection.write(Immediate.MAX_VALUE).immediate()).isEqualTo(Immediate.MAX_VALUE);
    }

    @Test
    void nothingIsSaidOnAConnectionOnWhichNothingMoves() {
        assertThat(connection.nextControl()).isNull();
        assertThat(connection.offeredBytes()).isEqualTo(100);
    }

    @Test
    void freeSegmentsAreAdvertisedAsFarAsThePeersTableGoes() throws StreamProtocolException {
        receiveData(24);
        assertThat(connection.nextControl()).as("less than a quarter of the first segment").isNull();
        receiveData(1);
        StreamWorkRequest request = connection.nextControl();
        assertThat(request.kind()).isEqualTo(StreamWorkRequest.Kind.ADVERTISE);
        assertThat(request.immediate()).isEqualTo(credit(6));
        assertThat(request.remoteAddress()).isEqualTo(0x7000 + 16);
        assertThat(request.remoteKey()).isEqualTo(8);
        assertThat(request.length()).isEqualTo(16);
        assertThat(request.entryHead()).isEqualTo(0x10000 + 100);
        assertThat(connection.nextControl()).as("a third buffer for a table of two").isNull();
    }

    @Test
    void aFilledBufferMakesRoomInThePeersTable() throws StreamProtocolException {
        connection.receive(Immediate.of(Immediate.DATA, 99), 99);
        assertThat(connection.arrival().filled()).isFalse();
        assertThat(connection.nextControl().kind()).isEqualTo(StreamWorkRequest.Kind.ADVERTISE);
        assertThat(connection.nextControl()).isNull();

        connection.receive(Immediate.of(Immediate.DATA, 1), 1);

        assertThat(connection.arrival().area()).isSameAs(area);
        assertThat(connection.arrival().segment()).isZero();
        assertThat(connection.arrival().offset()).isEqualTo(99);
        assertThat(connection.arrival().length()).isEqualTo(1);
        assertThat(connection.arrival().filled()).isTrue();
        StreamWorkRequest request = connection.nextControl();
        assertThat(request.kind()).isEqualTo(StreamWorkRequest.Kind.ADVERTISE);
        assertThat(request.immediate()).isEqualTo(credit(6));
        assertThat(request.remoteAddress()).as("entry 0").isEqualTo(0x7000);
        assertThat(request.entryHead()).isEqualTo(0x10000 + 200);
    }

    @Test
    void creditsAreReturnedWhenHalfAreUsed() throws StreamProtocolException {
        receiveData(25);
        assertThat(connection.nextControl().kind()).isEqualTo(StreamWorkRequest.Kind.ADVERTISE);
        receiveData(1);
        assertThat(connection.nextControl()).isNull();
        receiveData(1);
        StreamWorkRequest request = connection.nextControl();
        assertThat(request.kind()).isEqualTo(StreamWorkRequest.Kind.CREDIT);
        assertThat(request.immediate()).isEqualTo(credit(7));
        assertThat(request.length()).isZero();
        assertThat(connection.nextControl()).isNull();
    }

    @Test
    void aNewReceiveAreaIsUsedForWhatIsAdvertisedNext() throws StreamProtocolException {
        ReceiveArea next = new ReceiveArea(0x20000, 78, 2, 400);
        connection.addArea(next);
        receiveData(25);
        assertThat(connection.nextControl().entryHead()).isEqualTo(0x20000);
        connection.receive(Immediate.of(Immediate.DATA, 75), 75);
        assertThat(connection.arrival().area()).isSameAs(area);
        area.release(0);
        assertThat(area.isIdle()).isTrue();
        connection.receive(Immediate.of(Immediate.DATA, 400), 400);
        assertThat(connection.arrival().area()).isSameAs(next);
    }

    @Test
    void anEarlierReceiveAreaHelpsOutWhenLessThanHalfOfTheLatestIsOnOffer() throws StreamProtocolException {
        ReceiveArea latest = new ReceiveArea(0x20000, 78, 1, 400);
        connection.addArea(latest);
        receiveData(25);
        assertThat(connection.nextControl().entryHead()).isEqualTo(0x20000);
        receiveData(75);
        assertThat(connection.nextControl()).isNull();
        receiveData(201);
        assertThat(connection.offeredBytes()).isEqualTo(199);
        assertThat(connection.nextControl().entryHead()).isEqualTo(0x10000 + 100);
    }

    @Test
    void aRemovedReceiveAreaIsFilledButNotAdvertisedAgain() throws StreamProtocolException {
        connection.addArea(new ReceiveArea(0x20000, 78, 2, 400));
        connection.removeArea(area);
        receiveData(100);
        area.release(0);
        assertThat(area.isIdle()).isTrue();
        int advertised = 0;
        for (StreamWorkRequest request; (request = connection.nextControl()) != null;) {
            assertThat(request.entryHead()).isGreaterThanOrEqualTo(0x20000);
            advertised++;
        }
        assertThat(advertised).isPositive();
        assertThatThrownBy(() -> connection.removeArea(area)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void receivesThatDataUsedArePostedAgainBeforeCreditsAreGranted() throws StreamProtocolException {
        receiveData(30);
        assertThat(connection.receivesToPost()).as("a buffer is offered with all credits").isEqualTo(1);
        assertThat(connection.nextControl().kind()).isEqualTo(StreamWorkRequest.Kind.ADVERTISE);
        receiveData(10);
        assertThat(connection.receivesToPost()).as("the peer has as many credits as there are receives").isZero();
        receiveData(10);
        assertThat(connection.receivesToPost()).as("half of the credits are used").isEqualTo(2);
        assertThat(connection.receivesToPost()).isZero();
        assertThat(connection.nextControl().kind()).isEqualTo(StreamWorkRequest.Kind.CREDIT);
    }

    @Test
    void receivesThatControlMessagesUsedArePostedAgainAtOnce() throws StreamProtocolException {
        receiveData(30);
        assertThat(connection.receivesToPost()).isEqualTo(1);
        assertThat(connection.nextControl().kind()).isEqualTo(StreamWorkRequest.Kind.ADVERTISE);
        receiveData(10);
        connection.receive(credit(4), 0);
        assertThat(connection.receivesToPost()).isEqualTo(2);
        assertThat(connection.receivesToPost()).isZero();
    }

    @Test
    void whatThePeerGivesBackIsFreeAndWhatItHadBegunIsFilled() throws StreamProtocolException {
        receiveData(30);
        assertThat(connection.nextControl().kind()).isEqualTo(StreamWorkRequest.Kind.ADVERTISE);
        assertThat(connection.retract()).isTrue();
        assertThat(connection.nextControl().immediate())
                .isEqualTo(Immediate.of(Immediate.CONTROL, Immediate.RETRACT));
        assertThat(connection.nextControl()).isNull();
        receiveData(20);

        assertThat(connection.receive(Immediate.of(Immediate.CONTROL, Immediate.RETRACTED), 0))
                .isEqualTo(StreamEvent.RETRACTED);
        assertThat(connection.arrival().area()).isSameAs(area);
        assertThat(connection.arrival().segment()).isZero();
        assertThat(connection.arrival().filled()).isTrue();
        assertThat(connection.offeredBytes()).isZero();
        area.release(0);
        assertThat(area.isIdle()).isTrue();
        assertThat(connection.nextControl().kind()).isEqualTo(StreamWorkRequest.Kind.ADVERTISE);
    }

    @Test
    void buffersAreGivenBackWhenThePeerAsks() throws StreamProtocolException {
        connection.write(Math.min(10, connection.writable()));
        sgl.set(1, 0x9000, 5, 40);
        sgl.set(2, 0xA000, 5, 40);
        assertThat(connection.receive(Immediate.of(Immediate.CONTROL, Immediate.RETRACT), 0))
                .isEqualTo(StreamEvent.RETRACT);
        assertThat(connection.writable()).isZero();
        assertThat(connection.nextControl().immediate())
                .isEqualTo(Immediate.of(Immediate.CONTROL, Immediate.RETRACTED));
        assertThat(connection.nextControl()).isNull();
        sgl.set(0, 0xB000, 6, 40);
        connection.receive(Immediate.of(Immediate.CREDIT, 4), 16);
        assertThat(connection.writable()).isEqualTo(40);
        assertThat(connection.write(1).remoteAddress()).isEqualTo(0xB000);
    }

    @Test
    void aPeerThatDoesNotUnderstandIsNotAsked() {
        StreamConnection other = new StreamConnection(new StreamConfig(4, 8, 2, 2, 8),
                new ReceiveArea(0x10000, 77, 3, 100), new SimulatedQueuePair.ArraySgl(2, ByteOrder.nativeOrder()));
        other.establish(new ConnectionData(false, false, 4, 0x7000, 8, 2, 0x8000, 6, 50));
        assertThat(other.retract()).isFalse();
    }

    private void receiveData(int bytes) throws StreamProtocolException {
        assertThat(connection.receive(Immediate.of(Immediate.DATA, bytes), bytes)).isEqualTo(StreamEvent.DATA);
    }

    @Test
    void halfCloseByUs() throws StreamProtocolException {
        connection.shutdownOutput();
        assertThat(connection.writable()).isZero();
        StreamWorkRequest request = connection.nextControl();
        assertThat(request.kind()).isEqualTo(StreamWorkRequest.Kind.SHUTDOWN);
        assertThat(request.immediate()).isEqualTo(SHUTDOWN);
        assertThat(request.signalled()).isTrue();
        long end = request.sequence();
        assertThat(connection.state()).isEqualTo(StreamState.OUTPUT_SHUT);
        connection.shutdownOutput();
        receiveData(30);
        assertThat(connection.nextControl().kind()).as("credits go on").isEqualTo(StreamWorkRequest.Kind.ADVERTISE);

        assertThat(connection.receive(SHUTDOWN, 0)).isEqualTo(StreamEvent.SHUTDOWN);

        assertThat(connection.state()).isEqualTo(StreamState.DISCONNECTED);
        assertThat(connection.nextControl()).isNull();
        assertThat(connection.isDrained()).isFalse();
        connection.sendQueue().completed(end);
        assertThat(connection.isDrained()).isTrue();
    }

    @Test
    void halfCloseByThePeer() throws StreamProtocolException {
        assertThat(connection.receive(SHUTDOWN, 0)).isEqualTo(StreamEvent.SHUTDOWN);
        assertThat(connection.receive(SHUTDOWN, 0)).isEqualTo(StreamEvent.SHUTDOWN);
        assertThat(connection.state()).isEqualTo(StreamState.INPUT_SHUT);
        assertThat(connection.nextControl()).as("a buffer for a peer that sends no more").isNull();
        assertThat(connection.writable()).isEqualTo(50);
        connection.write(50);

        connection.shutdownOutput();

        assertThat(connection.state()).isEqualTo(StreamState.CLOSING);
        StreamWorkRequest request = connection.nextControl();
        assertThat(request.kind()).isEqualTo(StreamWorkRequest.Kind.DISCONNECT);
        assertThat(request.immediate()).isEqualTo(DISCONNECT);
        assertThat(connection.state()).isEqualTo(StreamState.DISCONNECTED);
        assertThat(connection.isDrained()).isFalse();
        connection.sendQueue().completed(request.sequence());
        assertThat(connection.isDrained()).isTrue();
    }

    @Test
    void thePeersEndBeforeOursIsTaken() throws StreamProtocolException {
        connection.shutdownOutput();
        connection.receive(SHUTDOWN, 0);
        assertThat(connection.state()).isEqualTo(StreamState.CLOSING);
        assertThat(connection.nextControl().kind()).isEqualTo(StreamWorkRequest.Kind.DISCONNECT);
    }

    @Test
    void closeByUs() throws StreamProtocolException {
        connection.disconnect();
        assertThat(connection.state()).isEqualTo(StreamState.CLOSING);
        assertThat(connection.nextControl().kind()).isEqualTo(StreamWorkRequest.Kind.DISCONNECT);
        assertThat(connection.nextControl()).isNull();
        assertThat(connection.receive(Immediate.of(Immediate.DATA, 7), 7)).as("was under way")
                .isEqualTo(StreamEvent.DATA);
        assertThat(connection.receive(DISCONNECT, 0)).isEqualTo(StreamEvent.DISCONNECT);
        assertThat(connection.isDrained()).isTrue();
        assertThat(connection.isEndedByPeer()).as("they crossed").isFalse();
    }

    @Test
    void closeByThePeer() throws StreamProtocolException {
        assertThat(connection.receive(DISCONNECT, 0)).isEqualTo(StreamEvent.DISCONNECT);
        assertThat(connection.state()).isEqualTo(StreamState.DISCONNECTED);
        assertThat(connection.isDrained()).isTrue();
        assertThat(connection.isEndedByPeer()).isTrue();
        assertThat(connection.writable()).isZero();
        connection.disconnect();
        assertThat(connection.nextControl()).isNull();
    }

    @Test
    void closeByThePeerWhenOurOutputHasEnded() throws StreamProtocolException {
        connection.shutdownOutput();
        assertThat(connection.nextControl().kind()).isEqualTo(StreamWorkRequest.Kind.SHUTDOWN);
        connection.receive(DISCONNECT, 0);
        assertThat(connection.isDrained()).isTrue();
        assertThat(connection.isEndedByPeer()).isTrue();
    }

    @Test
    void keepAliveIsAnEmptyWriteAndNeedsNoAnswer() throws StreamProtocolException {
        connection.nextControl();
        connection.keepAlive();
        StreamWorkRequest request = connection.nextControl();
        assertThat(request.kind()).isEqualTo(StreamWorkRequest.Kind.KEEP_ALIVE);
        assertThat(request.length()).isZero();
        assertThat(connection.nextControl()).isNull();
        assertThat(connection.receive(Immediate.of(Immediate.CONTROL, Immediate.KEEP_ALIVE), 0))
                .isEqualTo(StreamEvent.KEEP_ALIVE);
    }

    @Test
    void controlWaitsForASlot() {
        for (int i = 0; i < 8; i++) {
            connection.keepAlive();
            assertThat(connection.nextControl()).isNotNull();
        }
        connection.disconnect();
        assertThat(connection.nextControl()).isNull();
        assertThat(connection.sendQueue().hasDataSlot()).isFalse();
        connection.sendQueue().completed(7);
        assertThat(connection.nextControl().kind()).isEqualTo(StreamWorkRequest.Kind.DISCONNECT);
    }

    @ParameterizedTest
    @CsvSource({
            // type, value, bytes written, part of the message
            "0, 0, 0, no bytes",
            "0, 101, 101, announced 101 bytes where 100 were left",
            "0, 536870911, 536870911, where 100 were left",
            "0, 5, 6, announced 5 bytes but wrote 6",
            "1, 5, 0, reserved type 1",
            "2, 5, 0, reserved type 2",
            "3, 5, 0, reserved type 3",
            "4, 3, 0, credit update 3",
            "4, 65535, 0, credit update 65535",
            "4, 6, 0, at most its queue of 4",
            "4, 131077, 0, credit update 131077",
            "5, 0, 0, reserved type 5",
            "6, 3, 24, iomap entry 3",
            "7, 3, 0, unknown control message 3",
            "7, 536870911, 0, unknown control message 536870911",
    })
    void refuses(int type, int value, int bytes, String message) throws StreamProtocolException {
        connection.writable();
        connection.write(1);
        assertThatThrownBy(() -> connection.receive(Immediate.of(type, value), bytes))
                .isInstanceOf(StreamProtocolException.class).hasMessageContaining(message);
        assertThat(connection.state()).isEqualTo(StreamState.FAILED);
        assertThat(connection.isDrained()).isTrue();
        assertThat(connection.writable()).isZero();
        assertThat(connection.nextControl()).isNull();
        assertThatThrownBy(() -> connection.receive(credit(5), 0)).isInstanceOf(StreamProtocolException.class)
                .hasMessageContaining(message);
    }

    @Test
    void refusesDataWithoutACredit() throws StreamProtocolException {
        for (int i = 0; i < 4; i++) {
            connection.receive(Immediate.of(Immediate.DATA, 1), 1);
        }
        assertThatThrownBy(() -> connection.receive(Immediate.of(Immediate.DATA, 1), 1))
                .isInstanceOf(StreamProtocolException.class).hasMessageContaining("without a credit");
    }

    @Test
    void refusesDataWithoutABuffer() throws StreamProtocolException {
        connection.receive(Immediate.of(Immediate.DATA, 100), 100);
        assertThatThrownBy(() -> connection.receive(Immediate.of(Immediate.DATA, 1), 1))
                .isInstanceOf(StreamProtocolException.class).hasMessageContaining("where 0 were left");
    }

    @ParameterizedTest
    @CsvSource({"2", "0"})
    void refusesDataAfterTheEnd(int end) throws StreamProtocolException {
        connection.receive(Immediate.of(Immediate.CONTROL, end), 0);
        assertThatThrownBy(() -> connection.receive(Immediate.of(Immediate.DATA, 1), 1))
                .isInstanceOf(StreamProtocolException.class).hasMessageContaining("after it had ended");
    }

    @Test
    void refusesABufferThatCannotBeOne() throws StreamProtocolException {
        connection.writable();
        connection.write(50);
        sgl.set(1, -10, 5, 11);
        connection.receive(credit(5), 16);
        assertThatThrownBy(connection::writable).isInstanceOf(StreamProtocolException.class)
                .hasMessageContaining("past the end of the address space");
        assertThat(connection.state()).isEqualTo(StreamState.FAILED);
        assertThat(connection.writable()).isZero();
    }

    @Test
    void anUncutCreditNumberOfLibrdmacmIsUnderstood() throws StreamProtocolException {
        // 65536 + 4 is what a 16-bit number of read messages and a queue size may add up to; here, 4 again.
        assertThat(connection.receive(credit(65540), 0)).isEqualTo(StreamEvent.CREDIT);
        assertThat(connection.writable()).isEqualTo(50);
    }

    private static int credit(int value) {
        return Immediate.of(Immediate.CREDIT, value);
    }
}
