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
package io.netty.channel.rdma;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.rdma.memory.Staging;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Others hold all memory from which bytes that are not registered are sent. Nothing tells a channel that has nothing in
 * flight when there is some again.
 */
class RdmaStarvedTest {
    private static final int LENGTH = 50_000;
    /** The pieces of one stream need no more. */
    private static final int SMALLEST = 512;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    private final List<ByteBuf> held = new ArrayList<>();

    private void holdAll() {
        for (int length = Staging.MAX_BUFFER; length >= SMALLEST; length >>= 1) {
            for (ByteBuf buf; (buf = Staging.buffer(length)) != null;) {
                held.add(buf);
            }
        }
    }

    @AfterEach
    void release() {
        held.forEach(ByteBuf::release);
        held.clear();
    }

    /** Sends when there is nothing, and goes on when there is. */
    private void assertGoesOn(Channel channel, Object message) throws Exception {
        holdAll();
        ChannelFuture written = channel.writeAndFlush(message);
        for (int i = 0; i < 3; i++) {
            channel.eventLoop().submit(() -> { }).sync();
        }
        assertThat(written.isDone()).isFalse();
        release();
        TestTimeouts.sync(written);
    }

    @Test
    void aStreamGoesOn() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            assertGoesOn(pair.client, Unpooled.buffer(LENGTH).writeZero(LENGTH));
            assertThat(pair.serverEvents.read(LENGTH)).hasSize(LENGTH);
        }
    }

    @Test
    void aMessageChannelGoesOn() throws Exception {
        Channel listener = TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group())
                .channel(RdmaServerMessageChannel.class)
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, LENGTH)
                .childHandler(new ChannelInboundHandlerAdapter()).bind(TestAddress.anyPort())).channel();
        Channel client = TestTimeouts.sync(new Bootstrap().group(LOOPS.group()).channel(RdmaMessageChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(listener.localAddress())).channel();
        assertGoesOn(client, new RdmaSend(Unpooled.buffer(LENGTH).writeZero(LENGTH)));
        TestTimeouts.sync(client.close());
        TestTimeouts.sync(listener.close());
    }
}
