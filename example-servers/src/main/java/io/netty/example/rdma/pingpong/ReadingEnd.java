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
 * Reads the peer's data, and then has data for the peer to read. The message with a number says two things: the next
 * data are there, and the peer's data were read, so the peer may change them.
 */
class ReadingEnd extends PingPongEnd {
    private ByteBuf copy;
    private final ChannelFutureListener read = this::read;
    private long number;

    ReadingEnd(Game game, boolean client) {
        super(game, client);
    }

    @Override
    void begin() {
        copy = ctx.alloc().directBuffer(game.size(), game.size());
        whenClosed(copy::release);
        if (client) {
            ping();
        }
    }

    private void ping() {
        number++;
        pinged();
        offer();
    }

    private void offer() {
        memory.buf().setBytes(0, data.message(number), 0, game.size());
        send(number);
    }

    @Override
    void message(long peerNumber) {
        // The client has already sent this number, the server has not.
        long expected = client ? number : number + 1;
        if (peerNumber != expected || copy.refCnt() > 1) {
            throw new IllegalArgumentException("the peer offers number " + peerNumber + " (expected: " + expected
                    + ", and once)");
        }
        number = peerNumber;
        ctx.writeAndFlush(new RdmaRead(copy.clear(), remote, 0)).addListener(read);
    }

    private void read(ChannelFuture future) {
        if (!future.isSuccess()) {
            ctx.fireExceptionCaught(future.cause());
            return;
        }
        if (!isRight(copy, number)) {
            wrong();
        }
        if (!client) {
            offer();
        } else if (ponged()) {
            ping();
        }
    }

    @Override
    long counted(long told) {
        return number;
    }
}
