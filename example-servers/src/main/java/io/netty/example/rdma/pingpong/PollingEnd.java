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

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.rdma.message.RdmaRead;

/**
 * Reads the peer's memory again and again until the expected data are there. Then it puts the next data into its own
 * memory. No message is needed: pong n can only be there when the peer has read ping n as a whole, so the memory of
 * ping n may be changed. The same holds for ping n + 1 and pong n.
 *
 * <p>The peer changes its memory while this end reads it, so a copy may be torn. The data show it: the last 8 bytes are
 * the token, and with the check all others are compared.
 */
class PollingEnd extends PingPongEnd {
    private ByteBuf copy;
    private final ChannelFutureListener read = this::read;
    private long number = 1;
    private boolean over;

    PollingEnd(Game game, boolean client) {
        super(game, client);
    }

    @Override
    void prepare() {
        offer(0);
    }

    private void offer(long offered) {
        memory.buf().setBytes(0, data.message(offered), 0, game.size());
    }

    @Override
    void begin() {
        copy = ctx.alloc().directBuffer(game.size(), game.size());
        whenClosed(copy::release);
        if (client) {
            pinged();
            offer(number);
        }
        look();
    }

    private void look() {
        ctx.writeAndFlush(new RdmaRead(copy.clear(), remote, 0)).addListener(read);
    }

    private void read(ChannelFuture future) {
        if (!future.isSuccess()) {
            ctx.fireExceptionCaught(future.cause());
        } else if (!over) {
            if (isToken() && isComplete(copy, number)) {
                arrived();
            }
            if (!over) {
                look();
            }
        }
    }

    private boolean isToken() {
        int index = game.size() - Long.BYTES;
        return copy.getLong(index) == data.message(number).getLong(index);
    }

    private void arrived() {
        if (!client) {
            offer(number++);
        } else if (ponged()) {
            pinged();
            offer(++number);
        } else {
            over = true;
        }
    }

    /** Stops reading: the client has read the last pong. */
    @Override
    long counted(long told) {
        over = true;
        return number - 1;
    }
}
