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
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Arrays;
import java.util.EnumSet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Short messages and answers that come with their completions.
 */
@Tag("quick")
class RdmaMessageInlineReceiveTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(ints = { 0, 1, 32, 1024 })
    void whatTheDeviceGrantsIsTold(int asked) throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(),
                server -> server.childOption(RdmaChannelOption.MAX_INLINE_RECEIVE, asked), client -> { })) {
            assertThat(pair.server.config().getOption(RdmaChannelOption.MAX_INLINE_RECEIVE)).isEqualTo(asked);
            int granted = TestTimeouts.sync(pair.server.info()).getNow().maxInlineReceive();
            assertThat(granted).isEqualTo(Math.min(asked, pair.server.capabilities().maxInlineReceive()));
            assertThat(TestTimeouts.sync(pair.client.info()).getNow().maxInlineReceive()).isZero();
        }
    }

    @ParameterizedTest(name = "shared receives: {0}")
    @ValueSource(booleans = { false, true })
    void messagesOfAllLengthsArriveWhereTheyAlwaysDo(boolean shared) throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(),
                server -> server.childOption(RdmaChannelOption.MAX_INLINE_RECEIVE, 64)
                        .childOption(RdmaChannelOption.SHARED_RECEIVE_QUEUE, shared)
                        .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16)
                        .childOption(ChannelOption.AUTO_READ, false), client -> { })) {
            QueuePairInfo info = TestTimeouts.sync(pair.server.info()).getNow();
            if (shared) {
                assertThat(info.maxInlineReceive()).isZero();
                assertThat(info.toString()).contains("shared receives");
            }
            // As many as there are receives wait, and then as many again; all buffers are kept.
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 16; i++) {
                    MessagePair.write(pair.client, bytes(pair, round * 16 + i));
                }
                pair.server.config().setAutoRead(true);
                int arrived = 16 * (round + 1);
                TestTimeouts.awaitTrue(() -> pair.serverEvents.messages() == arrived);
                pair.server.config().setAutoRead(false);
            }
            for (int i = 0; i < 320; i++) {
                RdmaReceive message = pair.serverEvents.message();
                ByteBuf expected = bytes(pair, i);
                assertThat(message.length()).isEqualTo(i % 70);
                assertThat(message.content()).isEqualTo(expected);
                expected.release();
                message.release();
            }
        }
    }

    /** Below, at and above what comes inline. */
    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(ints = { 1, 63, 64, 65, 4000 })
    void answersOfAllLengthsArriveWhereTheyAlwaysDo(int length) throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(), server -> { },
                client -> client.option(RdmaChannelOption.MAX_INLINE_RECEIVE, 64));
             RegisteredMemory memory = RegisteredMemory.allocate(4096, EnumSet.allOf(RdmaPermission.class))) {
            RemoteMemory remote = pair.server.export(memory);
            for (int round = 1; round <= 50; round++) {
                for (int i = 0; i < length; i++) {
                    memory.buf().setByte(i, round + i);
                }
                ByteBuf destination = pair.client.alloc().directBuffer(4096);
                MessagePair.write(pair.client, new RdmaRead(destination.slice(8, length).writerIndex(0), remote, 0));
                assertThat(destination.slice(8, length)).isEqualTo(memory.buf().slice(0, length));
                destination.release();
            }
            memory.buf().setLong(0, 0);
            RdmaFetchAndAdd first = new RdmaFetchAndAdd(remote, 0, 1);
            MessagePair.write(pair.client, first);
            RdmaFetchAndAdd second = new RdmaFetchAndAdd(remote, 0, 1);
            MessagePair.write(pair.client, second);
            assertThat(first.oldValue()).isZero();
            assertThat(second.oldValue()).isOne();
        }
    }

    /** 0 to 69 of them: below, at and above what comes inline. */
    private static ByteBuf bytes(MessagePair pair, int number) {
        byte[] bytes = new byte[number % 70];
        Arrays.fill(bytes, (byte) number);
        return pair.client.alloc().buffer(70).writeBytes(bytes);
    }
}
