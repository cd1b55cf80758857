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

import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RdmaWriteImm;

/**
 * Writes to the peer's memory, and tells the peer: by a message behind the write, or by the immediate data of the write
 * itself. Both have a completion there. The server writes back the data that are in its memory.
 */
class NotifyingEnd extends PingPongEnd {
    private final boolean immediate;
    private long number;

    NotifyingEnd(Game game, boolean client) {
        super(game, client);
        immediate = game.mode() == PingPongMode.WRITE_IMM;
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
        if (immediate) {
            writeAndFlush(ctx, new RdmaWriteImm(data.message(number).retain(), remote, 0, (int) number));
        } else {
            write(ctx, new RdmaWrite(data.message(number).retain(), remote, 0).unsignalled());
            send(number);
        }
    }

    /** Writes the pong. The client writes to this memory again only when it has received the pong. */
    private void pong() {
        if (immediate) {
            writeAndFlush(ctx, new RdmaWriteImm(memory.slice(0, game.size()), remote, 0, (int) number));
        } else {
            write(ctx, new RdmaWrite(memory.slice(0, game.size()), remote, 0).unsignalled());
            send(number);
        }
    }

    @Override
    boolean isData(RdmaReceive message) {
        return immediate && message.hasImmediate() && message.length() == game.size();
    }

    @Override
    void data(RdmaReceive message) {
        arrived(message.immediate());
    }

    @Override
    void message(long peerNumber) {
        if (immediate) {
            super.message(peerNumber);
        } else {
            arrived((int) peerNumber);
        }
    }

    /** Handles the arrival of written bytes. */
    private void arrived(int peerNumber) {
        // The client has already sent this number, the server has not.
        long expected = client ? number : number + 1;
        if (peerNumber != (int) expected) {
            throw new IllegalArgumentException("the peer has written number " + peerNumber + " (expected: " + expected
                    + ')');
        }
        number = expected;
        if (!isRight(memory.buf().slice(0, game.size()), number)) {
            wrong();
        }
        if (!client) {
            pong();
        } else if (ponged()) {
            ping();
        }
    }

    @Override
    long counted(long told) {
        return number;
    }
}
