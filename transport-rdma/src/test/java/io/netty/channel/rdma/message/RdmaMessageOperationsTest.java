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
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.metrics.RdmaLoopMetrics;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Results of each operation, wherever its bytes are.
 */
@Tag("oldest")
@Tag("platforms")
@Tag("quick")
class RdmaMessageOperationsTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final EnumSet<RdmaPermission> ALL = EnumSet.allOf(RdmaPermission.class);

    @Test
    void messagesKeepTheirBoundaries() throws Exception {
        String longer = "three, which is longer than what goes inline: " + "x".repeat(100);
        try (MessagePair pair = new MessagePair(loops.group())) {
            pair.client.write(text("- one").skipBytes(2));
            pair.client.write(text(""));
            pair.client.write(new RdmaSend(text("")));
            pair.client.write(new RdmaSend(text("- " + longer).skipBytes(2)));
            // The same of registered memory.
            for (String text : new String[] { "one", longer }) {
                ByteBuf buf = pair.client.alloc().buffer();
                buf.writeCharSequence("- " + text, StandardCharsets.US_ASCII);
                pair.client.write(buf.skipBytes(2));
            }
            pair.client.flush();
            assertThat(pair.serverEvents.text()).isEqualTo("one");
            for (int i = 0; i < 2; i++) {
                RdmaReceive empty = pair.serverEvents.message();
                assertThat(empty.length()).isZero();
                assertThat(empty.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE);
                assertThat(empty.hasImmediate()).isFalse();
                empty.release();
            }
            assertThat(pair.serverEvents.text()).isEqualTo(longer);
            assertThat(pair.serverEvents.text()).isEqualTo("one");
            assertThat(pair.serverEvents.text()).isEqualTo(longer);
            MessagePair.write(pair.server, text("answer"));
            assertThat(pair.clientEvents.text()).isEqualTo("answer");
        }
    }

    @Test
    void readerMayAppendToAMessage() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            MessagePair.write(pair.client, text("message"));
            ByteBuf content = pair.serverEvents.message().content();
            content.writeBytes(new byte[100_000]).setByte(100_006, 'x');
            MessagePair.write(pair.server, content.readRetainedSlice(7));
            assertThat(pair.clientEvents.text()).isEqualTo("message");
            assertThat(content.readableBytes()).isEqualTo(100_000);
            assertThat(content.getByte(100_006)).isEqualTo((byte) 'x');
            content.release();
        }
    }

    @Test
    void immediateDataComesWithTheMessage() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            MessagePair.write(pair.client, new RdmaSendImm(text("hello"), 0x80000001));
            RdmaReceive message = pair.serverEvents.message();
            assertThat(message.hasImmediate()).isTrue();
            assertThat(message.immediate()).isEqualTo(0x80000001);
            assertThat(message.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE);
            assertThat(message.content().toString(StandardCharsets.US_ASCII)).isEqualTo("hello");
            message.release();
            MessagePair.write(pair.client, new RdmaSendImm(Unpooled.EMPTY_BUFFER, 7));
            message = pair.serverEvents.message();
            assertThat(message.immediate()).isEqualTo(7);
            assertThat(message.length()).isZero();
            message.release();
        }
    }

    @Test
    void writeReachesMemoryAndNobodyIsTold() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(8192, ALL)) {
            RemoteMemory remote = handOver(pair.server.export(memory));
            MessagePair.write(pair.client, new RdmaWrite(text("short"), remote, 0));
            MessagePair.write(pair.client, new RdmaWrite(random(pair.client, 4096, 1), remote, 4096));
            MessagePair.write(pair.client, new RdmaWrite(Unpooled.EMPTY_BUFFER, remote, 8192));
            // A message behind them tells that they have arrived.
            MessagePair.write(pair.client, text("look"));
            assertThat(pair.serverEvents.text()).isEqualTo("look");
            assertThat(memory.buf().toString(0, 5, StandardCharsets.US_ASCII)).isEqualTo("short");
            assertThat(memory.buf().getByte(5)).isZero();
            assertRandom(memory.buf().slice(4096, 4096), 1);
            assertThat(pair.serverEvents.messages()).isZero();
        }
    }

    @Test
    void writeWithImmediateTellsTheLength() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(1000, ALL)) {
            RemoteMemory remote = handOver(pair.server.export(memory));
            MessagePair.write(pair.client, new RdmaWriteImm(random(pair.client, 900, 2), remote, 100, 0xCAFE));
            RdmaReceive message = pair.serverEvents.message();
            assertThat(message.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE);
            assertThat(message.length()).isEqualTo(900);
            assertThat(message.immediate()).isEqualTo(0xCAFE);
            assertThat(message.content().isReadable()).isFalse();
            message.release();
            assertRandom(memory.buf().slice(100, 900), 2);
            MessagePair.write(pair.client, new RdmaWriteImm(Unpooled.EMPTY_BUFFER, remote, 0, 5));
            message = pair.serverEvents.message();
            assertThat(message.immediate()).isEqualTo(5);
            assertThat(message.length()).isZero();
            message.release();
            // The receives were not used up: more operations than receives.
            for (int i = 0; i < 200; i++) {
                MessagePair.write(pair.client, new RdmaWriteImm(text("i"), remote, 0, i));
                message = pair.serverEvents.message();
                assertThat(message.immediate()).isEqualTo(i);
                message.release();
            }
        }
    }

    @Test
    void readFillsTheBufferWhereverItIs() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(8192, ALL);
             RegisteredMemory own = RegisteredMemory.of(ByteBuffer.allocateDirect(8192), ALL)) {
            fill(memory.buf(), 8192, 3);
            RemoteMemory remote = handOver(pair.server.export(memory));
            ByteBuf[] destinations = {
                    pair.client.alloc().buffer(8192, 8192), Unpooled.buffer(8192, 8192),
                    UnpooledByteBufAllocator.DEFAULT.directBuffer(8192, 8192), own.buf().clear().retain()
            };
            for (ByteBuf destination : destinations) {
                MessagePair.write(pair.client, new RdmaRead(destination, remote, 0));
                assertThat(destination.readableBytes()).isEqualTo(8192);
                assertRandom(destination, 3);
                assertThat(destination.release()).isEqualTo(destination != own.buf());
            }
            ByteBuf part = pair.client.alloc().buffer(20, 20).writeInt(1);
            MessagePair.write(pair.client, new RdmaRead(part, remote, 8192 - 16));
            assertThat(part.readInt()).isEqualTo(1);
            assertThat(part).isEqualTo(memory.buf().slice(8192 - 16, 16));
            MessagePair.write(pair.client, new RdmaRead(part, remote, 8192));
            part.release();
        }
    }

    @Test
    void readIsAsLongAsTheLesserOfBothSides() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(100, ALL);
             RegisteredMemory own = RegisteredMemory.allocate(8192, ALL)) {
            fill(memory.buf(), 100, 6);
            RemoteMemory remote = handOver(pair.server.export(memory));
            // A pooled buffer has room for more than was asked for.
            ByteBuf destination = pair.client.alloc().buffer(4096).writeInt(1);
            RdmaRead read = new RdmaRead(destination, remote, 30);
            assertThat(read.length()).isEqualTo(70);
            MessagePair.write(pair.client, read);
            assertThat(read.length()).isEqualTo(70);
            assertThat(read).hasToString("RdmaRead of 70 bytes");
            assertThat(destination.readInt()).isEqualTo(1);
            assertThat(destination).isEqualTo(memory.buf().slice(30, 70));
            read = new RdmaRead(destination, remote, 100);
            MessagePair.write(pair.client, read);
            assertThat(read.length()).isZero();
            destination.release();

            read = new RdmaRead(List.of(own.slice(10, 60), own.slice(100, 60)), remote, 20);
            MessagePair.write(pair.client, read);
            assertThat(read.length()).isEqualTo(80);
            assertThat(own.buf().slice(10, 60)).isEqualTo(memory.buf().slice(20, 60));
            assertThat(own.buf().slice(100, 20)).isEqualTo(memory.buf().slice(80, 20));
            assertThat(own.buf().slice(120, 8192 - 120)).isEqualTo(Unpooled.buffer().writeZero(8192 - 120));

            // Less room than there is to read.
            ByteBuf small = pair.client.alloc().buffer(40, 40).writeInt(1);
            for (RdmaRead less : List.of(new RdmaRead(small, remote, 10),
                    new RdmaRead(own.slice(200, 36), remote, 10))) {
                MessagePair.write(pair.client, less);
                assertThat(less.length()).isEqualTo(36);
            }
            assertThat(small.readInt()).isEqualTo(1);
            assertThat(small).isEqualTo(memory.buf().slice(10, 36)).isEqualTo(own.buf().slice(200, 36));
            assertThat(own.buf().getByte(236)).isZero();
            small.release();
        }
    }

    @Test
    void withoutRemoteMemoryAReadAndAWriteAreEmpty() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory own = RegisteredMemory.allocate(100, ALL)) {
            ByteBuf buf = pair.client.alloc().buffer(100);
            for (RdmaOperation operation : List.of(new RdmaRead(buf, null, 0), new RdmaRead(own.slice(0, 100), null, 0),
                    new RdmaWrite(Unpooled.EMPTY_BUFFER, null, 0), new RdmaWrite(own.slice(0, 0), null, 0),
                    new RdmaWriteImm(Unpooled.EMPTY_BUFFER, null, 0, 9))) {
                MessagePair.write(pair.client, operation);
                assertThat(operation.length()).isZero();
            }
            assertThat(buf.writerIndex()).isZero();
            assertThat(buf.release()).isTrue();
            RdmaReceive message = pair.serverEvents.message();
            assertThat(message.immediate()).isEqualTo(9);
            message.release();

            ByteBuf data = text("nowhere to go");
            Throwable cause = MessagePair.failure(pair.client, new RdmaWrite(data, null, 0));
            assertThat(cause).isInstanceOf(RdmaOperationException.class).hasMessageContaining("no remote memory");
            assertThat(data.refCnt()).isZero();
            MessagePair.write(pair.client, text("goes on"));
            assertThat(pair.serverEvents.text()).isEqualTo("goes on");
        }
    }

    @Test
    void lengthIsWhatWasMovedAfterSuccess() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(100, ALL)) {
            RemoteMemory remote = handOver(pair.server.export(memory));
            ByteBuf buf = pair.client.alloc().buffer(5, 5);
            for (RdmaOperation operation : List.of(new RdmaSend(text("12345")), new RdmaSendImm(text("12345"), 1),
                    new RdmaWrite(text("12345"), remote, 0), new RdmaWriteImm(text("12345"), remote, 0, 1),
                    new RdmaRead(buf, remote, 0), new RdmaCompareAndSwap(remote, 8, 1, 2),
                    new RdmaFetchAndAdd(remote, 8, 1), new RdmaSyncEventGet(remote.slice(8, 8)))) {
                int length = operation instanceof ValueOperation ? 8 : 5;
                assertThat(operation.length()).as("before %s", operation).isEqualTo(length);
                MessagePair.write(pair.client, operation);
                assertThat(operation.length()).as("after %s", operation).isEqualTo(length);
            }
            buf.release();
            for (int i = 0; i < 3; i++) {
                pair.serverEvents.message().release();
            }
        }
    }

    @Test
    void refusedArgumentLeavesTheBufferToTheCaller() {
        ByteBuf buf = Unpooled.buffer(8);
        RemoteMemory remote = new RemoteMemory(0, 8, 0, EnumSet.noneOf(RdmaPermission.class));
        for (Runnable wrong : List.<Runnable>of(() -> new RdmaSendInv(buf, null),
                () -> new RdmaFetchAndAdd(buf, null, 0, 1), () -> new RdmaCompareAndSwap(buf, null, 0, 1, 2),
                () -> new RdmaSyncEventGet(buf, null), () -> RdmaSyncEvent.add(buf, null, 1),
                () -> RdmaSyncEvent.set(buf, null))) {
            assertThatThrownBy(wrong::run).isInstanceOf(NullPointerException.class);
            assertThat(buf.refCnt()).isEqualTo(1);
        }
        for (Supplier<RdmaOperation> maker : List.<Supplier<RdmaOperation>>of(() -> new RdmaRead(buf, remote, 0),
                () -> new RdmaFetchAndAdd(buf, remote, 0, 1), () -> new RdmaCompareAndSwap(buf, remote, 0, 1, 2),
                () -> new RdmaSyncEventGet(buf, remote))) {
            RdmaOperation right = maker.get();
            assertThat(buf.refCnt()).as("%s", right).isEqualTo(2);
            RdmaOperation copy = right.replace(buf);
            assertThat(copy).hasSameClassAs(right);
            assertThat(buf.refCnt()).as("the caller's reference is the copy's: %s", right).isEqualTo(2);
            copy.release();
        }
        assertThat(buf.release()).isTrue();
    }

    @Test
    void readIntoACompositeIsScattered() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(3000, ALL)) {
            fill(memory.buf(), 3000, 4);
            RemoteMemory remote = handOver(pair.server.export(memory));
            // Registered, heap, registered.
            CompositeByteBuf composite = Unpooled.compositeBuffer()
                    .addComponent(pair.client.alloc().buffer(1000).writeZero(1000))
                    .addComponent(Unpooled.buffer(1000).writeZero(1000))
                    .addComponent(pair.client.alloc().buffer(1000).writeZero(1000));
            // A composite can't be written to behind its last component.
            composite.setIndex(0, 0);
            MessagePair.write(pair.client, new RdmaRead(composite.capacity(3000), remote, 0));
            assertRandom(composite, 4);
            composite.release();
            assertThat(pair.client.metrics().bytesInPlace()).isEqualTo(2000);
            assertThat(pair.client.metrics().bytesCopied()).isEqualTo(1000);
        }
    }

    @Test
    void compositesAreGatheredWhateverTheirPieces() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(),
                server -> server.childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 1 << 20),
                client -> client.option(RdmaChannelOption.MAX_SEND_SGES, 4));
             RegisteredMemory own = RegisteredMemory.of(ByteBuffer.allocateDirect(1000), ALL)) {
            fill(own.buf(), 1000, 12);
            // As many pieces as elements, more, and far more.
            for (int pieces : new int[] { 2, 4, 5, 300 }) {
                CompositeByteBuf composite = Unpooled.compositeBuffer(1000);
                ByteBuf expected = Unpooled.buffer();
                for (int i = 0; i < pieces; i++) {
                    ByteBuf piece = i % 3 == 0 ? random(pair.client, 1000, 10 + i) :
                            i % 3 == 1 ? fill(Unpooled.buffer(1000), 1000, 10 + i).writerIndex(1000) :
                                    own.buf().retainedDuplicate().setIndex(0, 1000);
                    expected.writeBytes(piece, 0, 1000);
                    composite.addComponent(true, piece);
                }
                MessagePair.write(pair.client, composite);
                RdmaReceive message = pair.serverEvents.message();
                assertThat(message.content()).as(pieces + " pieces").isEqualTo(expected);
                message.release();
            }
            assertThat(own.refCnt()).as("nothing is in flight").isEqualTo(1);
        }
    }

    @Test
    void messageTooLongToBeCopiedIsRefusedAndTheConnectionGoesOn() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(5 << 20, ALL)) {
            RemoteMemory remote = handOver(pair.server.export(memory));
            Throwable cause = MessagePair.failure(pair.client,
                    new RdmaWrite(Unpooled.buffer(5 << 20).writeZero(5 << 20), remote, 0));
            assertThat(cause).isInstanceOf(RdmaOperationException.class).hasMessageContaining("RegisteredMemory");
            assertThat(((RdmaOperationException) cause).isPosted()).isFalse();
            assertThat(((RdmaOperationException) cause).status()).isEqualTo(WorkCompletionStatus.LOCAL_LENGTH_ERROR);
            // The same from registered memory.
            try (RegisteredMemory own = RegisteredMemory.allocate(5 << 20, ALL)) {
                fill(own.buf(), 5 << 20, 5);
                MessagePair.write(pair.client, new RdmaWrite(own.buf().retainedDuplicate().setIndex(0, 5 << 20),
                        remote, 0));
            }
            MessagePair.write(pair.client, text("done"));
            assertThat(pair.serverEvents.text()).isEqualTo("done");
            assertRandom(memory.buf().slice(0, 5 << 20), 5);
        }
    }

    @Test
    void messageLongerThanTheDeviceCanIsRefusedAndTheConnectionGoesOn() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory never = RegisteredMemory.ofAddress(4096, 1L << 31, ALL)) {
            long most = pair.client.capabilities().maxMessageLength();
            RegisteredSlice part = never.slice(0, (int) (most / 4));
            RemoteMemory anywhere = new RemoteMemory(0, 1L << 40, 5, EnumSet.of(RdmaPermission.REMOTE_WRITE));
            Throwable cause = MessagePair.failure(pair.client,
                    new RdmaWrite(List.of(part, part, part, part, never.slice(0, 4)), anywhere, 0));
            assertThat(cause).isInstanceOf(RdmaOperationException.class).hasMessageContaining("at most " + most)
                    .hasMessageContaining("longer than the device or the receive allows");
            assertThat(((RdmaOperationException) cause).isPosted()).isFalse();
            assertThat(((RdmaOperationException) cause).status()).isEqualTo(WorkCompletionStatus.LOCAL_LENGTH_ERROR);
            assertThat(MessagePair.failure(pair.client, new RdmaWrite(List.of(part, part, part, part), anywhere, 0)))
                    .as("the longest, of memory that is not there").isNotInstanceOf(RdmaOperationException.class);
            MessagePair.write(pair.client, text("done"));
            assertThat(pair.serverEvents.text()).isEqualTo("done");
        }
    }

    @Test
    void moreThanTheSendQueueHoldsWaitsAndIsSeenByWritability() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(), server -> server
                .childOption(ChannelOption.AUTO_READ, false).childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16),
                client -> client.option(RdmaChannelOption.SEND_QUEUE_DEPTH, 16))) {
            int count = 1000;
            List<RdmaSend> sends = new ArrayList<>();
            List<ChannelFuture> futures = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                sends.add(new RdmaSend(pair.client.alloc().buffer(4).writeInt(i)));
            }
            // No completion comes in between.
            TestTimeouts.sync(pair.client.eventLoop().submit(() -> {
                sends.forEach(send -> futures.add(pair.client.write(send)));
                pair.client.flush();
                assertThat(sends).filteredOn(send -> send.busy() != null).as("in flight, with a place for a request " +
                        "of the channel").isEqualTo(sends.subList(0, 15));
            }));
            TestTimeouts.awaitTrue(() -> !pair.client.isWritable());
            assertThat(futures.get(count - 1).isDone()).isFalse();
            pair.server.config().setAutoRead(true);
            for (int i = 0; i < count; i++) {
                RdmaReceive message = pair.serverEvents.message();
                assertThat(message.content().readInt()).isEqualTo(i);
                message.release();
            }
            for (ChannelFuture future : futures) {
                TestTimeouts.sync(future);
            }
            TestTimeouts.awaitTrue(pair.client::isWritable);
        }
    }

    @Test
    void unsignalledOperationsAreDoneWithTheNextSignalledOne() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(100, ALL)) {
            RemoteMemory remote = handOver(pair.server.export(memory));
            ChannelFuture first = pair.client.writeAndFlush(new RdmaWrite(text("a"), remote, 0).unsignalled());
            ChannelFuture second = pair.client.writeAndFlush(new RdmaSend(text("b")).unsignalled());
            assertThat(pair.serverEvents.text()).isEqualTo("b");
            MessagePair.write(pair.server, text("answer"));
            assertThat(pair.clientEvents.text()).isEqualTo("answer");
            // The message has arrived, and its answer. The sender learns of the completion only when it asks.
            assertThat(first.isDone()).isFalse();
            assertThat(second.isDone()).isFalse();
            MessagePair.write(pair.client, text("c"));
            assertThat(first.isSuccess()).isTrue();
            assertThat(second.isSuccess()).isTrue();
            // However many there are, the send queue does not run full.
            for (int i = 0; i < 2000; i++) {
                pair.client.writeAndFlush(new RdmaWrite(text("d"), remote, 1).unsignalled(), pair.client.voidPromise());
            }
            MessagePair.write(pair.client, text("e"));
        }
    }

    @Test
    void operationsOfOneFlushAreOneChainWithOneCompletion() throws Exception {
        int count = 20;
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        try (MessagePair pair = new MessagePair(group)) {
            String name = TestTimeouts.result(group.next().submit(() -> Thread.currentThread().getName()));
            RdmaLoopMetrics loop = RdmaLoopMetrics.all().stream().filter(each -> each.name().equals(name)).findFirst()
                    .orElseThrow();
            long before = loop.completions();
            ChannelFuture last = null;
            for (int i = 0; i < count; i++) {
                last = pair.client.write(text("" + i));
            }
            pair.client.flush();
            TestTimeouts.sync(last);
            for (int i = 0; i < count; i++) {
                assertThat(pair.serverEvents.text()).isEqualTo("" + i);
            }
            // In a later turn, what was handled is counted.
            TestTimeouts.sync(group.next().submit(() -> { }));
            assertThat(loop.completions() - before).as("those of the receives, and one").isEqualTo(count + 1);
        } finally {
            TestTimeouts.shutdown(group);
        }
    }

    @Test
    void promisesAreDoneInTheOrderOfTheWrites() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(64, ALL)) {
            RemoteMemory remote = handOver(pair.server.export(memory));
            List<Integer> order = new ArrayList<>();
            CountDownLatch done = new CountDownLatch(300);
            for (int i = 0; i < 300; i++) {
                int number = i;
                // Some of them are refused before they are posted.
                Object operation = i % 7 == 0 ? new RdmaWrite(text("x"), remote, 64) : i % 3 == 0 ? text("send") :
                        new RdmaWrite(text("write"), remote, i % 32);
                pair.client.write(operation).addListener(future -> {
                    assertThat(future.isSuccess()).isEqualTo(number % 7 != 0);
                    order.add(number);
                    done.countDown();
                });
                if (i % 10 == 0) {
                    pair.client.flush();
                }
            }
            pair.client.flush();
            assertThat(done.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(order).isSorted().hasSize(300);
        }
    }

    @Test
    void listenersMayWriteAndCloseInTheMiddleOfCompletions() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            CountDownLatch done = new CountDownLatch(100);
            for (int i = 0; i < 100; i++) {
                pair.client.write(text("outer")).addListener(future ->
                        pair.client.writeAndFlush(text("inner")).addListener(inner -> {
                            assertThat(inner.isSuccess()).isTrue();
                            done.countDown();
                        }));
            }
            pair.client.flush();
            assertThat(done.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            for (int i = 0; i < 200; i++) {
                assertThat(pair.serverEvents.text()).isEqualTo(i < 100 ? "outer" : "inner");
            }
            for (int i = 0; i < 50; i++) {
                pair.client.write(text("last")).addListener(future -> pair.client.close());
            }
            pair.client.flush();
            TestTimeouts.sync(pair.client.closeFuture());
        }
    }

    @Test
    void readerThatKeepsMessagesGetsAllOfThem() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            int count = 500;
            List<ChannelFuture> futures = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                futures.add(pair.client.writeAndFlush(random(pair.client, 4096, i)));
            }
            List<RdmaReceive> kept = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                kept.add(pair.serverEvents.message());
            }
            for (int i = 0; i < count; i++) {
                assertRandom(kept.get(i).content(), i);
                kept.get(i).release();
                TestTimeouts.sync(futures.get(i));
            }
        }
    }

    @Test
    void messageLongerThanTheReceiveEndsTheConnection() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(),
                server -> server.childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 100), client -> { })) {
            MessagePair.write(pair.client, random(pair.client, 100, 1));
            pair.serverEvents.message().release();
            Throwable cause = MessagePair.failure(pair.client, random(pair.client, 101, 1));
            assertThat(((RdmaOperationException) cause).isPosted()).isTrue();
            assertThat(((RdmaOperationException) cause).status()).isIn(
                    WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR, WorkCompletionStatus.REMOTE_OPERATION_ERROR);
            assertThat(pair.serverEvents.next()).isInstanceOf(RdmaOperationException.class);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        }
    }

    @Test
    void channelWithoutReceiveBuffersTakesImmediateData() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(),
                server -> server.childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 0), client -> { })) {
            for (int i = 0; i < 100; i++) {
                MessagePair.write(pair.client, new RdmaSendImm(Unpooled.EMPTY_BUFFER, i));
                RdmaReceive message = pair.serverEvents.message();
                assertThat(message.immediate()).isEqualTo(i);
                message.release();
            }
            for (RdmaSend send : List.of(new RdmaSend(Unpooled.EMPTY_BUFFER), new RdmaSend(List.of()))) {
                MessagePair.write(pair.client, send);
                RdmaReceive message = pair.serverEvents.message();
                assertThat(message.length()).isZero();
                assertThat(message.hasImmediate()).isFalse();
                message.release();
            }
            // There is no memory for a single byte.
            assertThat(MessagePair.failure(pair.client, text("x"))).isInstanceOf(RdmaOperationException.class);
            assertThat(pair.serverEvents.next()).isInstanceOf(RdmaOperationException.class);
        }
    }

    @Test
    void fencedOperationsWaitForReads() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(1 << 17, ALL)) {
            fill(memory.buf(), 1 << 17, 6);
            RemoteMemory remote = handOver(pair.server.export(memory));
            for (int i = 0; i < 20; i++) {
                ByteBuf destination = pair.client.alloc().buffer(1 << 16, 1 << 16);
                pair.client.write(new RdmaRead(destination, remote, 1 << 16));
                // The READ must return the earlier bytes.
                ByteBuf back = destination.retainedDuplicate().setIndex(0, 1 << 16);
                MessagePair.write(pair.client, new RdmaWrite(back, remote, 0).fenced());
                destination.release();
                MessagePair.write(pair.client, text("done"));
                assertThat(pair.serverEvents.text()).isEqualTo("done");
                assertThat(memory.buf().slice(0, 1 << 16)).isEqualTo(memory.buf().slice(1 << 16, 1 << 16));
                memory.buf().setLong(i * 8, ~memory.buf().getLong(i * 8));
                memory.buf().setLong((1 << 16) + i * 8, i);
            }
        }
    }

    @Test
    void otherMessagesAreRefused() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            assertThat(MessagePair.failure(pair.client, "text")).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("RdmaOperation");
            ByteBuf released = text("gone");
            released.release();
            assertThat(MessagePair.failure(pair.client, new RdmaSend(released))).isNotNull();
            MessagePair.write(pair.client, text("fine"));
            assertThat(pair.serverEvents.text()).isEqualTo("fine");
        }
    }

    /** As a peer gets it. */
    private static RemoteMemory handOver(RemoteMemory memory) {
        ByteBuf blob = Unpooled.buffer(RemoteMemory.BLOB_LENGTH);
        memory.write(blob);
        return RemoteMemory.read(blob);
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    private static ByteBuf random(Channel channel, int length, int seed) {
        ByteBuf buf = channel.alloc().buffer(length, length).writerIndex(length);
        return fill(buf, length, seed);
    }

    private static ByteBuf fill(ByteBuf buf, int length, int seed) {
        buf.setBytes(0, bytes(length, seed));
        return buf;
    }

    private static void assertRandom(ByteBuf buf, int seed) {
        assertThat(buf).isEqualTo(Unpooled.wrappedBuffer(bytes(buf.readableBytes(), seed)));
    }

    private static byte[] bytes(int length, int seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
