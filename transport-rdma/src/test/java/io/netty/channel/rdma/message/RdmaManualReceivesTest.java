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
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.MemoryFile;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.MessagePair.Recorder;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.util.IllegalReferenceCountException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;

import static io.netty.channel.rdma.RdmaPermission.LOCAL_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Receives that the application posts, into memory of its own.
 */
@Tag("quick")
class RdmaManualReceivesTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final EnumSet<RdmaPermission> ALL = EnumSet.allOf(RdmaPermission.class);
    private static final int DEPTH = 16;
    private static final int LARGE = 5 << 20;

    private static MessagePair pair() throws Exception {
        return pair(0);
    }

    private static MessagePair pair(int inlineReceive) throws Exception {
        return new MessagePair(loops.group(), server -> server.childOption(RdmaChannelOption.MANUAL_RECEIVES, true)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, DEPTH)
                .childOption(RdmaChannelOption.MAX_INLINE_RECEIVE, inlineReceive), client -> { });
    }

    @Test
    void messagesGoToTheMemoryOfTheirReceiveAndNowhereElse() throws Exception {
        assertMessagesGoToTheirMemory(0);
    }

    @Test
    void messagesThatTravelInTheirCompletionGoThereAsWell() throws Exception {
        assertMessagesGoToTheirMemory(64);
    }

    private static void assertMessagesGoToTheirMemory(int inlineReceive) throws Exception {
        try (MessagePair pair = pair(inlineReceive); RegisteredMemory memory = RegisteredMemory.allocate(1000, ALL)) {
            List<RegisteredSlice> first = List.of(memory.slice(10, 20), memory.slice(500, 0), memory.slice(100, 60));
            List<RegisteredSlice> second = List.of(memory.slice(300, 50));
            TestTimeouts.sync(pair.server.postReceive(first));
            TestTimeouts.sync(pair.server.postReceive(second));
            byte[] bytes = random(50, 1);
            MessagePair.write(pair.client, new RdmaSendImm(Unpooled.wrappedBuffer(bytes), 7));
            RdmaReceive message = pair.serverEvents.message();
            assertThat(message.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE);
            assertThat(message.hasImmediate()).isTrue();
            assertThat(message.immediate()).isEqualTo(7);
            assertThat(message.length()).isEqualTo(50);
            assertThat(message.memory()).isEqualTo(first);
            assertThat(message.content().isReadable()).isFalse();
            message.release();
            byte[] expected = new byte[1000];
            System.arraycopy(bytes, 0, expected, 10, 20);
            System.arraycopy(bytes, 20, expected, 100, 30);
            assertThat(bytes(memory)).isEqualTo(expected);

            MessagePair.write(pair.client, new RdmaSend(Unpooled.wrappedBuffer(bytes)));
            message = pair.serverEvents.message();
            assertThat(message.hasImmediate()).isFalse();
            assertThat(message.immediate()).isZero();
            message.release();
            System.arraycopy(bytes, 0, expected, 300, 50);
            assertThat(bytes(memory)).isEqualTo(expected);
            assertThat(pair.server.metrics().bytesReceived()).isEqualTo(100);
            assertThat(memory.refCnt()).as("nothing is in flight").isEqualTo(1);
        }
    }

    @Test
    void writeWithImmediateTakesAReceiveAndLeavesItsMemory() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(), server -> server
                .childOption(RdmaChannelOption.MANUAL_RECEIVES, true).childOption(RdmaChannelOption.RNR_RETRY_COUNT, 0),
                client -> { });
             RegisteredMemory target = RegisteredMemory.allocate(100, ALL);
             RegisteredMemory memory = RegisteredMemory.allocate(100, ALL)) {
            TestTimeouts.sync(pair.server.postReceive(memory.slice(0, 100)));
            TestTimeouts.sync(pair.server.postReceive());
            RemoteMemory remote = pair.server.export(target);
            for (int i = 0; i < 2; i++) {
                MessagePair.write(pair.client, new RdmaWriteImm(Unpooled.copyLong(5), remote, 8, i));
                RdmaReceive message = pair.serverEvents.message();
                assertThat(message.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE);
                assertThat(message.immediate()).isEqualTo(i);
                assertThat(message.memory()).hasSize(1 - i);
                message.release();
            }
            assertThat(target.buf().getLong(8)).isEqualTo(5);
            assertThat(bytes(memory)).isEqualTo(new byte[100]);
            assertThat(MessagePair.failure(pair.client, new RdmaWriteImm(Unpooled.copyLong(5), remote, 8, 2)))
                    .as("there is no receive left").isInstanceOfSatisfying(RdmaOperationException.class, e ->
                            assertThat(e.status()).isEqualTo(WorkCompletionStatus.RNR_RETRY_EXCEEDED_ERROR));
        }
    }

    @Test
    void messageGoesBehindWhatTheBuffersOfItsReceiveHave() throws Exception {
        try (MessagePair pair = pair(); RegisteredMemory memory = RegisteredMemory.allocate(100, ALL)) {
            ByteBuf first = pair.server.alloc().buffer(14, 14).writeInt(1);
            ByteBuf full = pair.server.alloc().buffer(4, 4).writeInt(2);
            ByteBuf last = memory.buf().setIndex(3, 20);
            TestTimeouts.sync(pair.server.postReceive(first, full, last));
            byte[] bytes = random(50, 4);
            MessagePair.write(pair.client, new RdmaSendImm(Unpooled.wrappedBuffer(bytes), 8));
            RdmaReceive message = pair.serverEvents.message();
            assertThat(message.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(message.buffers()).containsExactly(first, full, last);
            assertThat(message.memory()).isEmpty();
            assertThat(message.length()).isEqualTo(50);
            assertThat(message.content()).isEqualTo(Unpooled.wrappedBuffer(bytes));
            assertThat(first.readInt()).isEqualTo(1);
            assertThat(first).isEqualTo(Unpooled.wrappedBuffer(bytes, 0, 10));
            assertThat(full.readableBytes()).isEqualTo(4);
            assertThat(last.readerIndex()).isEqualTo(3);
            assertThat(last.slice(20, 40)).isEqualTo(Unpooled.wrappedBuffer(bytes, 10, 40));
            assertThat(last.writerIndex()).isEqualTo(60);
            message.release();

            // A short message behind that, and a write that leaves the buffer as it was.
            TestTimeouts.sync(pair.server.postReceive(last));
            TestTimeouts.sync(pair.server.postReceive(last));
            MessagePair.write(pair.client, new RdmaWriteImm(Unpooled.EMPTY_BUFFER, null, 0, 1));
            MessagePair.write(pair.client, new RdmaSend(Unpooled.wrappedBuffer(bytes, 0, 1)));
            for (int i = 0; i < 2; i++) {
                message = pair.serverEvents.message();
                assertThat(message.content().readableBytes()).isEqualTo(i);
                message.release();
            }
            assertThat(last.writerIndex()).isEqualTo(61);
            assertThat(first.release()).as("nothing else has it").isTrue();
            assertThat(full.release()).isTrue();
            assertThat(memory.refCnt()).isEqualTo(1);
        }
    }

    @Test
    void buffersThatTheDeviceCantWriteToAreRefusedAndStayTheCallers() throws Exception {
        try (MessagePair pair = pair();
             RegisteredMemory constant = RegisteredMemory.of(ByteBuffer.allocateDirect(100),
                     EnumSet.noneOf(RdmaPermission.class))) {
            ByteBuf good = pair.server.alloc().buffer(100, 100);
            for (ByteBuf bad : List.of(Unpooled.buffer(100), constant.buf().setIndex(0, 0).retain(),
                    Unpooled.compositeBuffer().addComponent(pair.server.alloc().buffer(10, 10).writeZero(10))
                            .addComponent(pair.server.alloc().buffer(10, 10).writeZero(10)))) {
                assertThat(TestTimeouts.await(pair.server.postReceive(good, bad)).cause())
                        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("allocator");
                assertThat(good.refCnt()).isEqualTo(1);
                bad.release();
            }
            ByteBuf released = Unpooled.buffer();
            released.release();
            assertThatThrownBy(() -> pair.server.postReceive(good, released))
                    .isInstanceOf(IllegalReferenceCountException.class);
            assertThat(good.refCnt()).isEqualTo(1);
            // The channel gives back what is posted when it closes.
            TestTimeouts.sync(pair.server.postReceive(good));
            assertThat(good.refCnt()).isEqualTo(2);
            TestTimeouts.sync(pair.server.close());
            assertThat(good.release()).isTrue();
        }
    }

    @Test
    void receiveThatFailsArrivesWithItsStatusAndMemory() throws Exception {
        try (MessagePair pair = pair(); RegisteredMemory memory = RegisteredMemory.allocate(100, ALL)) {
            ByteBuf buffer = pair.server.alloc().buffer(100, 100);
            List<RegisteredSlice> tooShort = List.of(memory.slice(0, 10));
            TestTimeouts.sync(pair.server.postReceive(tooShort));
            TestTimeouts.sync(pair.server.postReceive(memory.slice(10, 10)));
            TestTimeouts.sync(pair.server.postReceive(buffer));
            MessagePair.failure(pair.client, new RdmaSend(Unpooled.wrappedBuffer(random(11, 5))));
            RdmaReceive failed = pair.serverEvents.failedReceive();
            assertThat(failed.status()).isEqualTo(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED
                    ? WorkCompletionStatus.LOCAL_LENGTH_ERROR
                    : WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR); // which soft-RoCE tells
            assertThat(failed.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE);
            assertThat(failed.memory()).isEqualTo(tooShort);
            assertThat(failed.length()).isZero();
            assertThat(failed.toString()).startsWith("failed ");
            failed = pair.serverEvents.failedReceive();
            assertThat(failed.status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
            assertThat(failed.memory()).hasSize(1);
            failed = pair.serverEvents.failedReceive();
            assertThat(failed.status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
            assertThat(failed.buffers()).containsExactly(buffer);
            assertThat(pair.serverEvents.next()).isInstanceOf(RdmaOperationException.class);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(buffer.release()).isTrue();
            assertThat(pair.serverEvents.messages()).isZero();
        }
    }

    @Test
    void shortMessagesAreCopiedByTheProcessorOnMlx5Alone(@TempDir Path devices) throws Exception {
        for (String driver : List.of("mlx5_core", "mlx4_core")) {
            Path drivers = Files.createDirectories(devices.resolve("drivers").resolve(driver));
            Path device = Files.createDirectories(devices.resolve(driver + "_0/device"));
            Files.createSymbolicLink(device.resolve("driver"), drivers);
        }
        // The name tells nothing: rdma(8) and udev change it.
        Files.createSymbolicLink(devices.resolve("rocep1s0"), devices.resolve("mlx5_core_0"));
        for (String scatter : new String[] { null, "", "1", "2" }) {
            assertThat(ManualReceives.copiesShortMessages(devices, "mlx5_core_0", scatter)).isTrue();
            assertThat(ManualReceives.copiesShortMessages(devices, "rocep1s0", scatter)).isTrue();
            assertThat(ManualReceives.copiesShortMessages(devices, "mlx4_core_0", scatter)).isFalse();
            assertThat(ManualReceives.copiesShortMessages(devices, "shm0", scatter)).isFalse();
        }
        assertThat(ManualReceives.copiesShortMessages(devices, "mlx5_core_0", "0")).isFalse();
    }

    @Test
    void receiveIntoPeerMemoryIsRefusedWhereTheProcessorWouldCopyIntoIt(@TempDir Path devices) throws Exception {
        Path device = Files.createDirectories(devices.resolve(TestAddress.device()).resolve("device"));
        Files.createSymbolicLink(device.resolve("driver"), Files.createDirectories(devices.resolve("mlx5_core")));
        Path real = ManualReceives.devices;
        ManualReceives.devices = devices;
        try (MessagePair pair = pair(); RegisteredMemory own = RegisteredMemory.allocate(4096, ALL);
             RegisteredMemory foreign = RegisteredMemory.ofAddress(own.address(), 4096, ALL)) {
            TestTimeouts.sync(pair.server.postReceive(own.slice(0, 10)));
            assertRefused(pair, IllegalArgumentException.class, TestAddress.device() + " the processor copies",
                    foreign.slice(0, 10));
            assertThat(foreign.refCnt()).isEqualTo(1);
        } finally {
            ManualReceives.devices = real;
        }
    }

    @Test
    void messagesLongerThanABufferOfTheChannelAreGatheredAndScattered() throws Exception {
        try (MessagePair pair = pair();
             RegisteredMemory from = RegisteredMemory.of(ByteBuffer.allocateDirect(LARGE + 10), ALL);
             RegisteredMemory to = RegisteredMemory.of(ByteBuffer.allocateDirect(LARGE + 10), ALL)) {
            byte[] bytes = random(LARGE, 2);
            from.buf().setBytes(0, bytes, LARGE / 2, LARGE - LARGE / 2);
            from.buf().setBytes(LARGE - LARGE / 2 + 10, bytes, 0, LARGE / 2);
            TestTimeouts.sync(pair.server.postReceive(to.slice(LARGE - 1000 + 10, 1000), to.slice(0, LARGE - 1000)));
            MessagePair.write(pair.client, new RdmaSend(
                    List.of(from.slice(LARGE - LARGE / 2 + 10, LARGE / 2), from.slice(0, LARGE - LARGE / 2))));
            RdmaReceive message = pair.serverEvents.message();
            assertThat(message.length()).isEqualTo(LARGE);
            message.release();
            byte[] arrived = new byte[LARGE];
            to.buf().getBytes(LARGE - 1000 + 10, arrived, 0, 1000);
            to.buf().getBytes(0, arrived, 1000, LARGE - 1000);
            assertThat(arrived).isEqualTo(bytes);
        }
    }

    @Test
    void memoryOfAFileDescriptorIsGatheredAndReceivedInto() throws Exception {
        try (MessagePair pair = pair(64)) {
            assumeTrue(pair.client.capabilities().supportsDmabuf(), "the device has no dma-bufs");
            try (MemoryFile file = new MemoryFile(1 << 17);
                 RegisteredMemory from = RegisteredMemory.ofDmabuf(file.fd(), 1 << 16, 1 << 16,
                         EnumSet.noneOf(RdmaPermission.class));
                 RegisteredMemory to = RegisteredMemory.ofDmabuf(file.fd(), 4096, 8192, EnumSet.of(LOCAL_WRITE))) {
                ByteBuffer mapped = file.map();
                byte[] bytes = random(1 << 16, 3);
                mapped.put(1 << 16, bytes);
                for (int length : new int[] { 20, 5000 }) {
                    TestTimeouts.sync(pair.server.postReceive(to.slice(1, 10), to.slice(100, 6000)));
                    MessagePair.write(pair.client, new RdmaSend(List.of(from.slice(7, length - 5),
                            from.slice(50000, 5))));
                    RdmaReceive message = pair.serverEvents.message();
                    assertThat(message.length()).isEqualTo(length);
                    message.release();
                    byte[] sent = new byte[length];
                    System.arraycopy(bytes, 7, sent, 0, length - 5);
                    System.arraycopy(bytes, 50000, sent, length - 5, 5);
                    byte[] arrived = new byte[length];
                    mapped.get(4096 + 1, arrived, 0, 10).get(4096 + 100, arrived, 10, length - 10);
                    assertThat(arrived).isEqualTo(sent);
                }
            }
        }
    }

    @Test
    void whatIsPostedBeforeTheConnectionIsThereWhenThePeerSends() throws Exception {
        Recorder clientEvents = new Recorder();
        Recorder serverEvents = new Recorder();
        serverEvents.takesRequests = true;
        try (RegisteredMemory memory = RegisteredMemory.allocate(200, ALL)) {
            // Without patience for a peer that has no receive.
            Channel listener = TestTimeouts.sync(MessagePair.listening(loops.group(), serverEvents)
                    .childOption(RdmaChannelOption.MANUAL_RECEIVES, true)
                    .childOption(RdmaChannelOption.RNR_RETRY_COUNT, 0)
                    .bind(TestAddress.anyPort())).channel();
            ChannelFuture connect = MessagePair.connecting(loops.group(), clientEvents)
                    .option(RdmaChannelOption.MANUAL_RECEIVES, true).option(RdmaChannelOption.RNR_RETRY_COUNT, 0)
                    .handler(new ChannelInitializer<RdmaMessageChannel>() {
                        @Override
                        protected void initChannel(RdmaMessageChannel channel) {
                            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                                @Override
                                public void channelRegistered(ChannelHandlerContext ctx) {
                                    channel.postReceive(memory.slice(0, 100));
                                    ctx.fireChannelRegistered();
                                }
                            }, clientEvents);
                        }
                    }).connect(listener.localAddress());
            RdmaConnectionRequest request = (RdmaConnectionRequest) serverEvents.next();
            RdmaMessageChannel server = request.channel();
            ChannelFuture posted = server.postReceive(memory.slice(100, 100));
            TestTimeouts.sync(request.accept());
            assertThat(posted.isSuccess()).as("posted before the connection is there").isTrue();
            TestTimeouts.sync(connect);
            MessagePair.write(connect.channel(), Unpooled.copyLong(1));
            MessagePair.write(server, Unpooled.copyLong(2));
            clientEvents.message().release();
            serverEvents.message().release();
            assertThat(memory.buf().getLong(0)).isEqualTo(2);
            assertThat(memory.buf().getLong(100)).isEqualTo(1);
            TestTimeouts.sync(connect.channel().close());
            TestTimeouts.sync(server.closeFuture());
            TestTimeouts.sync(listener.close());
        }
    }

    @Test
    void memoryIsHeldUntilTheMessageHasComeOrTheChannelIsClosed() throws Exception {
        RegisteredMemory used = RegisteredMemory.allocate(100, ALL);
        RegisteredMemory unused = RegisteredMemory.allocate(100, ALL);
        try (MessagePair pair = pair()) {
            TestTimeouts.sync(pair.server.postReceive(used.slice(0, 50), used.slice(50, 50)));
            TestTimeouts.sync(pair.server.postReceive(unused.slice(0, 50)));
            used.close();
            unused.close();
            assertThat(used.isOpen()).isTrue();
            MessagePair.write(pair.client, Unpooled.copyLong(1));
            pair.serverEvents.message().release();
            assertThat(used.isOpen()).isFalse();
            assertThat(unused.isOpen()).isTrue();
        }
        assertThat(unused.isOpen()).isFalse();
    }

    @Test
    void longerMessageThanTheMemoryEndsTheConnection() throws Exception {
        try (RegisteredMemory memory = RegisteredMemory.allocate(100, ALL)) {
            try (MessagePair pair = pair()) {
                TestTimeouts.sync(pair.server.postReceive(memory.slice(0, 50), memory.slice(60, 10)));
                assertThat(MessagePair.failure(pair.client, new RdmaSend(Unpooled.wrappedBuffer(random(61, 4)))))
                        .isInstanceOfSatisfying(RdmaOperationException.class, e -> assertThat(e.status())
                                .isIn(WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                                        WorkCompletionStatus.REMOTE_OPERATION_ERROR));
                assertThat(pair.serverEvents.next()).isInstanceOf(RdmaOperationException.class);
                TestTimeouts.sync(pair.server.closeFuture());
                assertThat(TestTimeouts.await(pair.server.postReceive()).cause())
                        .isInstanceOf(ClosedChannelException.class);
            }
            assertThat(memory.refCnt()).isEqualTo(1);
        }
    }

    @Test
    void receivesThatCanNotBeRightAreRefusedAndTheConnectionGoesOn() throws Exception {
        RegisteredMemory closed = RegisteredMemory.allocate(100, ALL);
        closed.close();
        try (MessagePair pair = pair(); RegisteredMemory memory = RegisteredMemory.allocate(1000, ALL);
             RegisteredMemory readOnly = RegisteredMemory.allocate(100, EnumSet.noneOf(RdmaPermission.class));
             RegisteredMemory notOpen = RegisteredMemory.ofDmabuf(1_000_000, 0, 4096, ALL)) {
            assertRefused(pair, IllegalArgumentException.class, "LOCAL_WRITE", memory.slice(0, 10),
                    readOnly.slice(0, 10));
            assertRefused(pair, IllegalReferenceCountException.class, "", memory.slice(0, 10), closed.slice(0, 10));
            assertRefused(pair, IOException.class, "file descriptor 1000000", memory.slice(0, 10),
                    notOpen.slice(0, 10));
            int most = TestTimeouts.result(pair.server.info()).maxReceiveSges();
            RegisteredSlice[] tooMany = new RegisteredSlice[most + 1];
            Arrays.fill(tooMany, memory.slice(0, 1));
            assertRefused(pair, IllegalArgumentException.class, "MAX_RECEIVE_SGES", tooMany);
            TestTimeouts.sync(pair.server.postReceive(Arrays.copyOf(tooMany, most)));
            MessagePair.write(pair.client, Unpooled.copyBoolean(true));
            pair.serverEvents.message().release();
            assertThat(memory.refCnt()).isEqualTo(1);
            for (int i = 0; i < DEPTH; i++) {
                TestTimeouts.sync(pair.server.postReceive(memory.slice(i * 10L, 10)));
            }
            assertRefused(pair, IllegalStateException.class, "RECEIVE_QUEUE_DEPTH", memory.slice(0, 10));
            assertThat(TestTimeouts.await(pair.client.postReceive(memory.slice(0, 10))).cause())
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("MANUAL_RECEIVES");
            // Around the ring more than once.
            for (int i = 0; i < 3 * DEPTH; i++) {
                MessagePair.write(pair.client, Unpooled.copyInt(i));
                RdmaReceive message = pair.serverEvents.message();
                assertThat(memory.buf().getInt((int) message.memory().get(0).offset())).isEqualTo(i);
                TestTimeouts.sync(pair.server.postReceive(message.memory()));
                message.release();
            }
        }
    }

    private static void assertRefused(MessagePair pair, Class<? extends Throwable> type, String message,
                                      RegisteredSlice... memory) throws Exception {
        assertThat(TestTimeouts.await(pair.server.postReceive(memory)).cause()).isInstanceOf(type)
                .hasMessageContaining(message);
    }

    @Test
    void receivesAreEitherSharedOrOfTheApplication() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            Recorder events = new Recorder();
            ChannelFuture connect = TestTimeouts.await(MessagePair.connecting(loops.group(), events)
                    .option(RdmaChannelOption.MANUAL_RECEIVES, true)
                    .option(RdmaChannelOption.SHARED_RECEIVE_QUEUE, true).connect(pair.listener.localAddress()));
            assertThat(connect.cause()).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("MANUAL_RECEIVES");
            TestTimeouts.sync(connect.channel().closeFuture());
        }
    }

    @Test
    void whatIsPostedEarlyFailsIfTheChannelIsClosed() throws Exception {
        RdmaMessageChannel channel = new RdmaMessageChannel();
        channel.config().setOption(RdmaChannelOption.MANUAL_RECEIVES, true);
        TestTimeouts.sync(loops.group().register(channel));
        try (RegisteredMemory memory = RegisteredMemory.allocate(100, ALL)) {
            ChannelFuture posted = channel.postReceive(memory.slice(0, 100));
            TestTimeouts.sync(channel.close());
            assertThat(TestTimeouts.await(posted).cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(memory.refCnt()).isEqualTo(1);
        }
    }

    private static byte[] random(int length, int seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static byte[] bytes(RegisteredMemory memory) {
        ByteBuf buf = memory.buf();
        byte[] bytes = new byte[(int) memory.length()];
        buf.getBytes(0, bytes);
        return bytes;
    }
}
