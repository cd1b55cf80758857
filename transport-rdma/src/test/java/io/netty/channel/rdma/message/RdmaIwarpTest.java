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

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.EventRecorder;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.stream.ConnectionData;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;

import static io.netty.channel.rdma.RdmaPermission.LOCAL_WRITE;
import static io.netty.channel.rdma.RdmaPermission.REMOTE_READ;
import static io.netty.channel.rdma.RdmaPermission.REMOTE_WRITE;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Differences of iWARP. The lane {@code iwarp} of run-tests.sh makes the embedded provider behave so, and runs
 * tests of byte streams beside this one.
 */
@Tag("iwarp")
@Tag("quick")
@EnabledIf(value = "isIwarp", disabledReason = "the device is not an iWARP device: see the lane iwarp")
class RdmaIwarpTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final int LENGTH = 4096;

    static boolean isIwarp() throws Exception {
        try (Device device = Device.open(Device.names().get(0))) {
            return device.isIwarp();
        }
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, US_ASCII);
    }

    private static void assertWorks(MessagePair pair) throws Exception {
        MessagePair.write(pair.client, bytes("x"));
        assertThat(pair.serverEvents.text()).isEqualTo("x");
    }

    // ---- channels of messages

    @Test
    void capabilitiesTellWhatThereIsNot() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            RdmaCapabilities capabilities = pair.client.capabilities();
            assertThat(Arrays.asList(RdmaSend.class, RdmaWrite.class, RdmaRead.class, RdmaSendInv.class))
                    .allMatch(capabilities::isSupported);
            assertThat(Arrays.asList(RdmaSendImm.class, RdmaWriteImm.class, RdmaCompareAndSwap.class,
                    RdmaFetchAndAdd.class, RdmaSyncEventGet.class)).noneMatch(capabilities::isSupported);
            assertThat(capabilities.readsNeedRemoteWrite()).isTrue();
            assertThat(capabilities.maxReadSges()).isOne();
            assertThat(capabilities.supportsDatagrams()).isFalse();
            assertThat(capabilities.supportsMulticast()).isFalse();
            assertThat(capabilities.maxDatagramLength()).isZero();
        }
    }

    @Test
    void operationsThatThereAreNotAreRefusedWithoutHarm() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(LENGTH, EnumSet.allOf(RdmaPermission.class))) {
            RemoteMemory remote = pair.server.export(memory);
            for (Supplier<RdmaOperation> operation : Arrays.<Supplier<RdmaOperation>>asList(
                    () -> new RdmaSendImm(bytes("x"), 1), () -> new RdmaWriteImm(bytes("x"), remote, 0, 1),
                    () -> new RdmaCompareAndSwap(remote, 0, 1, 2), () -> new RdmaFetchAndAdd(remote, 0, 1),
                    () -> new RdmaSyncEventGet(remote))) {
                assertThat(MessagePair.failure(pair.client, operation.get()))
                        .isInstanceOf(UnsupportedOperationException.class);
            }
            assertWorks(pair);
        }
    }

    @Test
    void readsGoToMemoryWithRemoteWriteOnly() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(LENGTH, EnumSet.of(REMOTE_READ));
             RegisteredMemory open = RegisteredMemory.allocate(LENGTH, EnumSet.of(LOCAL_WRITE, REMOTE_WRITE));
             RegisteredMemory closed = RegisteredMemory.allocate(LENGTH, EnumSet.of(LOCAL_WRITE))) {
            memory.buf().setCharSequence(100, "hello", US_ASCII);
            RemoteMemory remote = pair.server.export(memory);
            MessagePair.write(pair.client, new RdmaRead(open.slice(7, 5), remote, 100));
            assertThat(open.buf().toString(7, 5, US_ASCII)).isEqualTo("hello");
            ByteBuf buf = Unpooled.directBuffer(5, 5);
            for (RdmaRead read : new RdmaRead[] {
                    new RdmaRead(closed.slice(0, 5), remote, 100), new RdmaRead(buf, remote, 100) }) {
                Throwable cause = MessagePair.failure(pair.client, read);
                assertThat(cause).isInstanceOf(RdmaOperationException.class)
                        .hasMessageContaining("slices of RegisteredMemory with REMOTE_WRITE");
                assertThat(((RdmaOperationException) cause).status())
                        .isEqualTo(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
                assertThat(((RdmaOperationException) cause).isPosted()).isFalse();
            }
            buf.release();
            assertWorks(pair);
        }
    }

    @Test
    void datagramChannelsAreRefusedWithTheReason() throws Exception {
        ChannelFuture bound = TestTimeouts.await(new Bootstrap().group(loops.group())
                .channel(RdmaDatagramChannel.class).handler(new MessagePair.Recorder()).bind(TestAddress.anyPort()));
        assertThat(bound.cause()).hasMessageContaining("iWARP device, which has no datagrams");
    }

    @Test
    void connectionsAreMadeByTheConnectionManagerAlone() throws Exception {
        RdmaMessageChannel channel = MessagePair.bound(loops.group(), new MessagePair.Recorder(), o -> { });
        assertThat(TestTimeouts.await(channel.exportEndpoint()).cause())
                .hasMessageContaining("connection manager alone");
        TestTimeouts.sync(channel.close());
    }

    // ---- byte streams

    /** Collects what a byte-stream channel reads. */
    private static final class StreamEvents extends EventRecorder {
        final BlockingQueue<byte[]> read = new LinkedBlockingQueue<>();

        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf buf = (ByteBuf) msg;
            byte[] copy = new byte[buf.readableBytes()];
            buf.readBytes(copy);
            buf.release();
            read.add(copy);
        }
    }

    private static Channel listen(StreamEvents events) throws Exception {
        return TestTimeouts.sync(new ServerBootstrap().group(loops.group()).channel(RdmaServerSocketChannel.class)
                .childHandler(events).bind(TestAddress.anyPort())).channel();
    }

    /** A channel of messages as the peer of a byte stream: it can say anything. */
    private static RdmaMessageChannel connectAsPeer(Channel listener, RegisteredMemory memory) throws Exception {
        RdmaMessageChannel channel = new RdmaMessageChannel();
        TestTimeouts.sync(loops.group().register(channel));
        RemoteMemory own = RemoteMemory.of(memory, Device.names().get(0));
        ByteBuffer data = ByteBuffer.allocate(ConnectionData.SIZE);
        new ConnectionData(ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN, false, 8, own.address(), own.key(), 4,
                own.address() + 1024, own.key(), 1024).write(data);
        channel.config().setOption(RdmaChannelOption.CONNECT_DATA, data.array());
        TestTimeouts.sync(channel.connect(listener.localAddress()));
        return channel;
    }

    /** In the byte order of the host; 3 bits say of which type it is, and 0 is data. */
    private static ByteBuf message(int typeAndValue) {
        return Unpooled.wrappedBuffer(ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(0, typeAndValue));
    }

    @Test
    void bytesGoBothWays() throws Exception {
        StreamEvents serverEvents = new StreamEvents();
        Channel listener = listen(serverEvents);
        Channel client = TestTimeouts.sync(new Bootstrap().group(loops.group()).channel(RdmaSocketChannel.class)
                .handler(new StreamEvents()).connect(listener.localAddress())).channel();
        TestTimeouts.sync(client.writeAndFlush(bytes("hello")));
        assertThat(TestTimeouts.take(serverEvents.read, "bytes")).asString(US_ASCII).isEqualTo("hello");
        TestTimeouts.sync(client.close());
        TestTimeouts.sync(listener.close());
    }

    /** A completion does not say how much was written. So what arrives can be wrong, but never another's. */
    @Test
    void bytesThatThePeerHasNotWrittenAreZero() throws Exception {
        StreamEvents serverEvents = new StreamEvents();
        Channel listener = listen(serverEvents);
        try (RegisteredMemory memory = RegisteredMemory.allocate(LENGTH, EnumSet.of(LOCAL_WRITE, REMOTE_WRITE))) {
            for (int i = 0; i < 3; i++) {
                Channel honest = TestTimeouts.sync(new Bootstrap().group(loops.group())
                        .channel(RdmaSocketChannel.class).handler(new StreamEvents())
                        .connect(listener.localAddress())).channel();
                TestTimeouts.sync(honest.writeAndFlush(bytes("secret")));
                assertThat(TestTimeouts.take(serverEvents.read, "bytes")).asString(US_ASCII).isEqualTo("secret");
                TestTimeouts.sync(honest.close());
                RdmaMessageChannel liar = connectAsPeer(listener, memory);
                MessagePair.write(liar, message(100));
                assertThat(TestTimeouts.take(serverEvents.read, "bytes")).hasSize(100).containsOnly(0);
                TestTimeouts.sync(liar.close());
            }
        }
        TestTimeouts.sync(listener.close());
    }

    @ParameterizedTest
    @ValueSource(ints = { 0, 3, 0x20000000, 0x7FFFFFFF, 0x1FFFFFFF, -1 })
    void messagesThatAreNoneEndTheConnection(int kind) throws Exception {
        StreamEvents serverEvents = new StreamEvents();
        Channel listener = listen(serverEvents);
        try (RegisteredMemory memory = RegisteredMemory.allocate(LENGTH, EnumSet.of(LOCAL_WRITE, REMOTE_WRITE))) {
            RdmaMessageChannel liar = connectAsPeer(listener, memory);
            assertThat(serverEvents.next()).isEqualTo("active");
            // Too short; of reserved types, more bytes than there is room for, an unknown control code.
            ByteBuf wrong = kind >= 0 && kind <= 3 ? Unpooled.wrappedBuffer(new byte[kind])
                    : message(kind);
            MessagePair.write(liar, wrong);
            assertThat(serverEvents.next()).isInstanceOf(StreamProtocolException.class);
            assertThat(serverEvents.next()).isEqualTo("inactive");
            TestTimeouts.await(liar.closeFuture());
        }
        TestTimeouts.sync(listener.close());
    }
}
