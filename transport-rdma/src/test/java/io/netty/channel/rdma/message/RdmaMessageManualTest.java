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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.MessagePair.Recorder;
import io.netty.channel.rdma.metrics.RdmaMetricsMBean;
import io.netty.channel.rdma.verbs.AccessFlags;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.GidEntry;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import javax.management.openmbean.CompositeData;
import java.net.ConnectException;
import java.net.InetAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Connections that the application makes: by blobs that are handed over out of band, and from requests of an event
 * channel of its own.
 */
@Tag("quick")
class RdmaMessageManualTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final String VALID = "52444d45" + "01" + "01" + "03" + "00" + "00000011" + "00abcdef" + "0000" +
            "10" + "10" + "00000000000000000000ffff0a000001";

    @ParameterizedTest(name = "shared receives: {0}")
    @ValueSource(booleans = { false, true })
    void channelsConnectByBlobsThatWereHandedOver(boolean shared) throws Exception {
        Recorder leftEvents = new Recorder();
        Recorder rightEvents = new Recorder();
        RdmaMessageChannel left = bound(leftEvents);
        RdmaMessageChannel right = bound(rightEvents);
        left.config().setOption(RdmaChannelOption.SHARED_RECEIVE_QUEUE, shared);
        right.config().setOption(RdmaChannelOption.SHARED_RECEIVE_QUEUE, shared);
        try (RegisteredMemory memory = RegisteredMemory.allocate(100, EnumSet.allOf(RdmaPermission.class))) {
            RdmaEndpoint leftEnd = handOver(TestTimeouts.sync(left.exportEndpoint()).getNow());
            RdmaEndpoint rightEnd = handOver(TestTimeouts.sync(right.exportEndpoint()).getNow());
            assertThat(left.isActive()).isFalse();
            assertThat(left.state()).isEqualTo(RdmaChannelState.STARTING);
            TestTimeouts.sync(left.connect(rightEnd));
            assertThat(left.state()).isEqualTo(RdmaChannelState.RUNNING);
            TestTimeouts.sync(right.connect(leftEnd));
            assertThat(leftEvents.next()).isEqualTo("active");
            assertThat(rightEvents.next()).isEqualTo("active");
            assertThat(TestTimeouts.await(left.connect(rightEnd)).cause())
                    .isInstanceOf(AlreadyConnectedException.class);

            MessagePair.write(left, new RdmaSendImm(text("to the right"), 1));
            assertThat(rightEvents.text()).isEqualTo("to the right");
            MessagePair.write(right, text("to the left"));
            assertThat(leftEvents.text()).isEqualTo("to the left");
            RemoteMemory remote = right.export(memory);
            MessagePair.write(left, new RdmaWrite(text("written"), remote, 0));
            ByteBuf destination = left.alloc().buffer(7, 7);
            MessagePair.write(left, new RdmaRead(destination, remote, 0));
            assertThat(destination.toString(StandardCharsets.US_ASCII)).isEqualTo("written");
            destination.release();
            RdmaFetchAndAdd add = new RdmaFetchAndAdd(remote, 8, 3);
            MessagePair.write(left, add);
            assertThat(add.oldValue()).isZero();
            assertThat(TestTimeouts.sync(left.info()).getNow().peerNumber())
                    .isEqualTo(TestTimeouts.sync(right.info()).getNow().number());
        } finally {
            TestTimeouts.sync(left.close());
            TestTimeouts.sync(right.close());
        }
        assertThat(leftEvents.next()).isEqualTo("inactive");
    }

    @Test
    void pathMtuDepthsAndGlobalHeaderAreSetWhereTheConnectionIsMade() throws Exception {
        RdmaMessageChannel left = MessagePair.bound(loops.group(), new Recorder(), config -> {
            config.setOption(RdmaChannelOption.PATH_MTU, 512);
            config.setOption(RdmaChannelOption.INITIATOR_DEPTH, 4);
            config.setOption(RdmaChannelOption.GLOBAL_HEADER, true);
            config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, EnumSet.of(RdmaPermission.REMOTE_WRITE));
        });
        Recorder rightEvents = new Recorder();
        RdmaMessageChannel right = MessagePair.bound(loops.group(), rightEvents,
                config -> {
                    config.setOption(RdmaChannelOption.RESPONDER_RESOURCES, 2);
                    config.setOption(RdmaChannelOption.SERVICE_LEVEL, 5);
                });
        try {
            RdmaEndpoint leftEnd = handOver(TestTimeouts.sync(left.exportEndpoint()).getNow());
            TestTimeouts.sync(left.connect(handOver(TestTimeouts.sync(right.exportEndpoint()).getNow())));
            TestTimeouts.sync(right.connect(leftEnd));
            QueuePairInfo leftInfo = TestTimeouts.sync(left.info()).getNow();
            QueuePairInfo rightInfo = TestTimeouts.sync(right.info()).getNow();
            assertThat(leftInfo.pathMtu()).isEqualTo(512);
            assertThat(rightInfo.pathMtu()).as("the least of both ends").isEqualTo(512);
            assertThat(leftInfo.initiatorDepth()).isEqualTo(2);
            assertThat(rightInfo.responderResources()).isEqualTo(2);
            assertThat(leftInfo.accessFlags() & AccessFlags.REMOTE_READ).isZero();
            assertThat(leftInfo.accessFlags() & AccessFlags.REMOTE_WRITE).isNotZero();
            assertThat(leftInfo.gidIndex()).isNotNegative();
            boolean ethernet = Device.shared(leftInfo.deviceName()).portAttributes(leftInfo.port()).isEthernet();
            assertThat(rightInfo.gidIndex() >= 0).as("without the option").isEqualTo(ethernet);
            assertThat(rightInfo.serviceLevel()).isEqualTo(serviceLevel(5));
            MessagePair.write(left, text("with a global header"));
            assertThat(rightEvents.text()).isEqualTo("with a global header");
        } finally {
            TestTimeouts.sync(left.close());
            TestTimeouts.sync(right.close());
        }
        assertThatThrownBy(() -> new RdmaMessageChannel().config().setOption(RdmaChannelOption.PATH_MTU, 1500))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("PATH_MTU: 1500");
    }

    @Test
    void whatTheApplicationHasConnectedIsListedWithoutAReasonForItsProvider() throws Exception {
        RdmaMessageChannel left = bound(new Recorder());
        RdmaMessageChannel right = bound(new Recorder());
        try {
            TestTimeouts.sync(left.connect(TestTimeouts.sync(right.exportEndpoint()).getNow()));
            String local = TestAddress.HOST + ':' + left.localAddress().getPort();
            assertThat((CompositeData[]) new RdmaMetricsMBean().getAttribute("Connections"))
                    .filteredOn(row -> row.get("local").equals(local))
                    .singleElement().satisfies(row -> assertThat(row.get("reason")).isEqualTo(""));
            assertThat(left.providerChoice()).isNull();
        } finally {
            TestTimeouts.sync(left.close());
            TestTimeouts.sync(right.close());
        }
    }

    @Test
    void deviceThatIsChosenNeedsNoAddress() throws Exception {
        String name = TestAddress.device();
        GidEntry gid = gid(name);
        RdmaMessageChannel[] channels = new RdmaMessageChannel[2];
        Recorder[] events = { new Recorder(), new Recorder() };
        RdmaEndpoint[] ends = new RdmaEndpoint[2];
        try (RegisteredMemory memory = RegisteredMemory.allocate(100, EnumSet.allOf(RdmaPermission.class))) {
            for (int i = 0; i < 2; i++) {
                channels[i] = unbound(events[i], name, 1, gid.index());
                channels[i].config().setOption(RdmaChannelOption.SERVICE_LEVEL, 3 + i);
                ends[i] = handOver(TestTimeouts.sync(channels[i].exportEndpoint()).getNow());
                assertThat(ends[i].gid).isEqualTo(gid.bytes());
            }
            for (int i = 0; i < 2; i++) {
                TestTimeouts.sync(channels[i].connect(ends[1 - i]));
            }
            MessagePair.write(channels[0], text("to the right"));
            assertThat(events[1].text()).isEqualTo("to the right");
            MessagePair.write(channels[0], new RdmaWrite(Unpooled.copyInt(5), channels[1].export(memory), 4));
            for (int i = 0; i < 2; i++) {
                QueuePairInfo info = TestTimeouts.sync(channels[i].info()).getNow();
                assertThat(info.deviceName()).isEqualTo(name);
                assertThat(info.port()).isEqualTo(1);
                assertThat(info.gidIndex()).isEqualTo(gid.index());
                assertThat(info.serviceLevel()).isEqualTo(serviceLevel(3 + i));
                assertThat(channels[i].localAddress()).isNull();
            }
        } finally {
            for (RdmaMessageChannel channel : channels) {
                TestTimeouts.sync(channel.close());
            }
        }
    }

    /** soft-RoCE has no service levels (rxe_av_from_attr() of the kernel drops it). */
    private static int serviceLevel(int option) {
        return VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED ? option : 0;
    }

    /** With RoCE that of the address of the tests, as others may lead nowhere. */
    private static GidEntry gid(String deviceName) throws Exception {
        try (Device device = Device.open(deviceName)) {
            InetAddress address = InetAddress.getByName(TestAddress.HOST);
            boolean ethernet = device.portAttributes(1).isEthernet();
            return device.gids(1).stream().filter(gid -> ethernet ? gid.address().equals(address) : gid.index() == 0)
                    .findFirst().orElseThrow();
        }
    }

    @Test
    void deviceWithoutAddressChoosesPortAndGidItself() throws Exception {
        RdmaMessageChannel channel = unbound(new Recorder(), TestAddress.device(), 0, -1);
        assertThat(TestTimeouts.sync(channel.exportEndpoint()).getNow()).isNotNull();
        TestTimeouts.sync(channel.close());
    }

    @ParameterizedTest
    @CsvSource({ "nobody0, 0, -1, nobody0", ", 99, -1, DEVICE_PORT: 99", ", 0, 255, GID_INDEX: 255" })
    void whatADeviceDoesNotHaveIsRefusedByName(String device, int port, int gidIndex, String message)
            throws Exception {
        RdmaMessageChannel channel =
                unbound(new Recorder(), device == null ? TestAddress.device() : device, port, gidIndex);
        assertThat(TestTimeouts.await(channel.exportEndpoint()).cause()).hasMessageContaining(message);
        TestTimeouts.sync(channel.close());
    }

    private static RdmaMessageChannel unbound(Recorder events, String device, int port, int gidIndex)
            throws Exception {
        RdmaMessageChannel channel = new RdmaMessageChannel();
        channel.config().setOption(RdmaChannelOption.DEVICE, device);
        channel.config().setOption(RdmaChannelOption.DEVICE_PORT, port);
        channel.config().setOption(RdmaChannelOption.GID_INDEX, gidIndex);
        channel.pipeline().addLast(events);
        TestTimeouts.sync(loops.group().register(channel));
        return channel;
    }

    @ParameterizedTest
    @ValueSource(strings = { "anybody there?", "" })
    void nobodyTellsOfTheEndOfAPeerButOperationsFail(String message) throws Exception {
        Recorder events = new Recorder();
        RdmaMessageChannel left = bound(events);
        RdmaMessageChannel right = bound(new Recorder());
        left.config().setOption(RdmaChannelOption.RETRY_COUNT, 1);
        left.config().setOption(RdmaChannelOption.ACK_TIMEOUT, 14);
        // No receive that would fail as well.
        left.config().setOption(RdmaChannelOption.MANUAL_RECEIVES, true);
        RdmaEndpoint leftEnd = TestTimeouts.sync(left.exportEndpoint()).getNow();
        TestTimeouts.sync(left.connect(TestTimeouts.sync(right.exportEndpoint()).getNow()));
        TestTimeouts.sync(right.connect(leftEnd));
        assertThat(events.next()).isEqualTo("active");
        TestTimeouts.sync(right.close());
        assertThat(left.isActive()).isTrue();
        assertThat(MessagePair.failure(left, text(message)))
                .isInstanceOfSatisfying(RdmaOperationException.class, e ->
                        assertThat(e.status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED_ERROR));
        assertThat(events.next()).isEqualTo("inactive");
        TestTimeouts.sync(left.closeFuture());
    }

    @Test
    void endpointOfAnotherLinkLayerIsRefused() throws Exception {
        RdmaMessageChannel channel = bound(new Recorder());
        ByteBuf blob = Unpooled.buffer();
        TestTimeouts.sync(channel.exportEndpoint()).getNow().write(blob);
        blob.setByte(5, 1 - blob.getByte(5));
        assertThat(TestTimeouts.await(channel.connect(RdmaEndpoint.read(blob))).cause())
                .hasMessageContaining("link layer");
        TestTimeouts.sync(channel.close());
    }

    @Test
    void endpointNeedsALocalAddress() throws Exception {
        RdmaMessageChannel channel = new RdmaMessageChannel();
        TestTimeouts.sync(loops.group().register(channel));
        assertThat(TestTimeouts.await(channel.exportEndpoint()).cause()).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("bind");
        TestTimeouts.sync(channel.close());
    }

    @ParameterizedTest(name = "shared receives: {0}")
    @ValueSource(booleans = { false, true })
    void channelThatWasExportedAndNeverConnectedGivesAllBack(boolean shared) throws Exception {
        RdmaMessageChannel channel = bound(new Recorder());
        channel.config().setOption(RdmaChannelOption.SHARED_RECEIVE_QUEUE, shared);
        TestTimeouts.sync(channel.exportEndpoint());
        TestTimeouts.sync(channel.exportEndpoint());
        TestTimeouts.sync(channel.close());
        assertThat(channel.state()).isEqualTo(RdmaChannelState.IDLE);
    }

    @ParameterizedTest
    @CsvSource({
            "0, 52444d41, not a blob",
            "4, 02, version 2 (expected: 1)",
            "5, 02, link layer 2",
            "6, 00, path MTU 0 (expected: 1 to 5)",
            "6, 06, path MTU 6",
            "7, 01, reserved 1",
            "8, 00000001, queue pair number 1",
            "8, 00ffffff, queue pair number",
            "8, ffffffff, queue pair number -1",
            "12, 01000000, packet sequence number"
    })
    void everyFieldOfTheBlobIsChecked(int offset, String bytes, String message) {
        byte[] blob = ByteBufUtil.decodeHexDump(VALID);
        ByteBuf copy = Unpooled.buffer();
        RdmaEndpoint.read(Unpooled.wrappedBuffer(blob)).write(copy);
        assertThat(ByteBufUtil.hexDump(copy)).isEqualTo(VALID);
        byte[] wrong = ByteBufUtil.decodeHexDump(bytes);
        System.arraycopy(wrong, 0, blob, offset, wrong.length);
        assertThatThrownBy(() -> RdmaEndpoint.read(Unpooled.wrappedBuffer(blob)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(message);
        assertThatThrownBy(() -> RdmaEndpoint.read(Unpooled.wrappedBuffer(blob, 0, 35)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("(expected: 36)");
    }

    @ParameterizedTest(name = "shared receives: {0}")
    @ValueSource(booleans = { false, true })
    void requestOfAnEventChannelOfTheApplicationIsAdopted(boolean shared) throws Exception {
        Recorder serverEvents = new Recorder();
        Recorder clientEvents = new Recorder();
        try (AdoptedPair pair = new AdoptedPair(loops.group(), clientEvents, serverEvents,
                config -> config.setOption(RdmaChannelOption.SHARED_RECEIVE_QUEUE, shared))) {
            assertThat(serverEvents.next()).isEqualTo("active");
            MessagePair.write(pair.client(), text("adopted"));
            assertThat(serverEvents.text()).isEqualTo("adopted");
            TestTimeouts.sync(pair.client().close());
            assertThat(serverEvents.next()).isEqualTo("inactive");
            TestTimeouts.sync(pair.server.closeFuture());
        }
    }

    @Test
    void adoptedRequestIsRejectedWithData() throws Exception {
        Recorder serverEvents = new Recorder();
        serverEvents.takesRequests = true;
        try (AdoptedPair pair = new AdoptedPair(loops.group(), new Recorder(), serverEvents, config -> { })) {
            RdmaConnectionRequest request = (RdmaConnectionRequest) serverEvents.next();
            TestTimeouts.sync(request.reject("moved away".getBytes(StandardCharsets.US_ASCII)));
            assertThat(pair.server.isOpen()).isFalse();
            TestTimeouts.await(pair.connect);
            assertThat(pair.connect.cause()).isInstanceOf(ConnectException.class).hasMessageContaining("moved away");
            TestTimeouts.sync(pair.connect.channel().closeFuture());
        }
    }

    private static RdmaMessageChannel bound(Recorder events) throws Exception {
        return MessagePair.bound(loops.group(), events, config -> { });
    }

    private static RdmaEndpoint handOver(RdmaEndpoint endpoint) {
        ByteBuf blob = Unpooled.buffer();
        endpoint.write(blob);
        assertThat(blob.readableBytes()).isEqualTo(RdmaEndpoint.BLOB_LENGTH);
        return RdmaEndpoint.read(blob);
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }
}
