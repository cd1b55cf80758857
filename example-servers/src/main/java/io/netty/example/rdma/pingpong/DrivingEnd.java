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
import io.netty.channel.rdma.message.RdmaWrite;

/**
 * End that does all operations: writes to the peer's memory and reads it back.
 */
class DrivingEnd extends PingPongEnd {
    private ByteBuf pong;
    private final ChannelFutureListener written = this::written;
    private final ChannelFutureListener read = this::read;
    private long number;

    DrivingEnd(Game game, boolean client) {
        super(game, client);
    }

    @Override
    void begin() {
        // The part of the end's own memory is free here: in this mode the peer does not write to it.
        pong = memory.buf();
        ping();
    }

    private void ping() {
        number++;
        pinged();
        RdmaWrite ping = new RdmaWrite(data.message(number).retain(), remote, 0);
        if (game.mode() == PingPongMode.UNSIGNALLED) {
            // A read after a write of the same channel finds the written data, so there is no need to wait.
            write(ctx, ping.unsignalled());
            readBack();
        } else {
            ctx.writeAndFlush(ping).addListener(written);
        }
    }

    private void written(ChannelFuture future) {
        if (future.isSuccess()) {
            readBack();
        } else {
            ctx.fireExceptionCaught(future.cause());
        }
    }

    private void readBack() {
        pong.clear();
        ctx.writeAndFlush(new RdmaRead(pong, remote, 0)).addListener(read);
    }

    private void read(ChannelFuture future) {
        if (!future.isSuccess()) {
            ctx.fireExceptionCaught(future.cause());
            return;
        }
        if (!isRight(pong, number)) {
            wrong();
        }
        if (ponged()) {
            ping();
        }
    }
}
