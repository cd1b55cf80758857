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
package io.netty.example.rdma.pingpong;

import io.netty.channel.ChannelConfig;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.example.rdma.verbs.Introduction;

/**
 * Sends messages, which need no memory of the peer but its receives. The server sends back the same buffer in which the
 * ping has arrived.
 */
class SendingEnd extends PingPongEnd {
    /** Number of receives: for the round trip in flight, and for the messages at the end. */
    private static final int RECEIVES = 16;

    private long number;

    SendingEnd(Game game, boolean client) {
        super(game, client);
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, Math.max(game.size(), Introduction.MAX_LENGTH));
        config.setOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, RECEIVES);
    }

    @Override
    void begin() {
        if (client) {
            ping();
        }
    }

    private void ping() {
        number++;
        pinged();
        writeAndFlush(ctx, new RdmaSend(data.message(number).retain()));
    }

    @Override
    boolean isData(RdmaReceive message) {
        return message.length() == game.size();
    }

    @Override
    void data(RdmaReceive message) {
        if (!client) {
            number++;
        }
        if (!isRight(message.content(), number)) {
            wrong();
        }
        if (!client) {
            writeAndFlush(ctx, new RdmaSend(message.content().retain()));
        } else if (ponged()) {
            ping();
        }
    }

    @Override
    long counted(long told) {
        return number;
    }
}
