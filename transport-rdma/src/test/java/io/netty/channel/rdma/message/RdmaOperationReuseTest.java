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
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestTimeouts;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.util.EnumSet;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Operations that are written again, with other values, and what they keep for the application.
 */
@Tag("quick")
class RdmaOperationReuseTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final EnumSet<RdmaPermission> ALL = EnumSet.allOf(RdmaPermission.class);

    @Test
    void operationIsWrittenAgainWithAnotherOffsetLengthAndImmediate() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory from = RegisteredMemory.allocate(100, ALL);
             RegisteredMemory to = RegisteredMemory.allocate(100, ALL)) {
            for (int i = 0; i < 100; i++) {
                from.buf().setByte(i, i + 1);
            }
            RdmaWriteImm write = new RdmaWriteImm(List.of(from.slice(0, 3), from.slice(10, 5)),
                    pair.server.export(to), 0, 0);
            byte[] expected = new byte[100];
            for (int round = 0; round <= 9; round++) {
                write.immediate(round).offset(10 * round).length(round);
                assertThat(write.length()).isEqualTo(Math.min(round, 8));
                MessagePair.write(pair.client, write);
                assertThat(write.length()).isEqualTo(Math.min(round, 8));
                RdmaReceive message = pair.serverEvents.message();
                assertThat(message.immediate()).isEqualTo(round);
                assertThat(message.length()).isEqualTo(Math.min(round, 8));
                message.release();
                for (int i = 0; i < Math.min(round, 8); i++) {
                    expected[10 * round + i] = (byte) (i < 3 ? i + 1 : 10 + i - 3 + 1);
                }
            }
            byte[] written = new byte[100];
            to.buf().getBytes(0, written);
            assertThat(written).isEqualTo(expected);
            assertThat(from.refCnt()).as("nothing is in flight").isEqualTo(1);
        }
    }

    @Test
    void operationWithABufferIsWrittenAgainWithOtherIndexes() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(100, ALL)) {
            for (int i = 0; i < 100; i++) {
                memory.buf().setByte(i, i);
            }
            ByteBuf buf = pair.client.alloc().buffer(100, 100);
            RdmaRead read = new RdmaRead(buf, pair.server.export(memory), 0);
            for (int round = 0; round < 5; round++) {
                read.offset(20 * round).length(20);
                MessagePair.write(pair.client, read.retain());
                assertThat(read.length()).isEqualTo(20);
            }
            assertThat(buf).isEqualTo(memory.buf().slice(0, 100));
            buf.clear();
            MessagePair.write(pair.client, read.offset(90).length(100));
            assertThat(read.length()).as("what the remote memory has").isEqualTo(10);
            assertThat(buf).isEqualTo(memory.buf().slice(90, 10));
            buf.release();

            RdmaSendImm send = new RdmaSendImm(Unpooled.buffer(4), 0);
            for (int i = 0; i < 5; i++) {
                send.content().clear().writeInt(i);
                MessagePair.write(pair.client, send.immediate(i).retain());
                RdmaReceive message = pair.serverEvents.message();
                assertThat(message.content().readInt()).isEqualTo(i);
                assertThat(message.immediate()).isEqualTo(i);
                message.release();
            }
            assertThat(send.release()).isTrue();
        }
    }

    @Test
    void operationInFlightIsNeitherWrittenOnceMoreNorChanged() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(), server -> server
                .childOption(ChannelOption.AUTO_READ, false).childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16),
                client -> { });
             RegisteredMemory memory = RegisteredMemory.allocate(100, ALL)) {
            for (int i = 0; i < 16; i++) {
                MessagePair.write(pair.client, Unpooled.copyLong(i));
            }
            // Waits in the device for a receive.
            RdmaSendImm send = new RdmaSendImm(memory.slice(0, 100), 1);
            ChannelFuture first = pair.client.writeAndFlush(send);
            TestTimeouts.sync(pair.client.eventLoop().submit(() -> { }));
            assertThatThrownBy(() -> send.immediate(2)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> send.length(2)).isInstanceOf(IllegalStateException.class);
            ChannelFuture second = pair.client.writeAndFlush(send);
            TestTimeouts.sync(pair.client.eventLoop().submit(() -> { }));
            pair.server.config().setAutoRead(true);
            TestTimeouts.sync(first);
            assertThat(TestTimeouts.await(second).cause()).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("in flight");
            assertThat(send.length()).isEqualTo(100);
            // Once more now: the connection has not suffered.
            MessagePair.write(pair.client, send.immediate(2));
            for (int i = 0; i < 16; i++) {
                pair.serverEvents.message().release();
            }
            for (int i = 1; i <= 2; i++) {
                RdmaReceive message = pair.serverEvents.message();
                assertThat(message.immediate()).isEqualTo(i);
                message.release();
            }
        }
    }

    @Test
    void copiesKeepLimitFlagsAndAttachment() throws Exception {
        Object data = new Object();
        try (RegisteredMemory memory = RegisteredMemory.allocate(100, ALL)) {
            RdmaSend send = new RdmaSend(memory.slice(0, 50));
            assertThat(send.attachment()).isNull();
            assertThat(send.attachment(data)).isSameAs(send);
            RdmaOperation copy = send.length(7).unsignalled().fenced().replace(Unpooled.EMPTY_BUFFER);
            assertThat(copy.attachment()).isSameAs(data);
            assertThat(copy.length()).isEqualTo(7);
            assertThat(copy.isUnsignalled()).isTrue();
            assertThat(copy.isFenced()).isTrue();
            assertThatThrownBy(() -> send.length(-1)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void exceptionOfAFailureTellsTheOperation() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(100, ALL)) {
            RdmaWrite write = new RdmaWrite(memory.slice(0, 50), pair.server.export(memory), 90);
            Throwable cause = MessagePair.failure(pair.client, write.attachment("mine"));
            assertThat(((RdmaOperationException) cause).operation()).isSameAs(write);
            // With a void promise the pipeline gets it, and knows which one it was.
            pair.client.writeAndFlush(write, pair.client.voidPromise());
            Object event = pair.clientEvents.next();
            assertThat(((RdmaOperationException) event).operation().attachment()).isEqualTo("mine");
        }
    }
}
