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
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.rdma.message.RdmaWrite;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/**
 * Fills its memory with zeros, which the data don't contain, and scans it until no zero is left. Then all bytes have
 * arrived, in any order. This needs less than {@link WritingEnd}: bytes may become visible in any order, and the end
 * need not know the data. The data are random. The server copies the received bytes, fills its memory again, and writes
 * the copy back. The client compares all bytes with those that it has sent.
 */
class ScanningEnd extends PingPongEnd {
    private static final VarHandle VIEW =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long EACH_BYTE_1 = 0x0101010101010101L;
    private static final long EACH_BYTE_128 = EACH_BYTE_1 << 7;

    private final SplittableRandom random = new SplittableRandom();
    private ByteBuffer view;
    private MemoryWatch watch;
    /** Number of bytes that have arrived, from the beginning. */
    private int scanned;
    /** Bytes that the client has sent. */
    private ByteBuf ping;
    private long number;

    ScanningEnd(Game game, boolean client) {
        super(game, client);
    }

    @Override
    void prepare() {
        view = memory.buf().nioBuffer(0, game.size());
        fill();
    }

    private void fill() {
        memory.buf().setZero(0, game.size());
        scanned = 0;
    }

    @Override
    void begin() {
        if (client) {
            ping();
        }
        watch = new MemoryWatch((SingleThreadEventLoop) ctx.channel().eventLoop(), this::scan);
        whenClosed(() -> {
            watch.stop();
            releasePing();
        });
        watch.start();
    }

    private void ping() {
        releasePing();
        ping = ctx.alloc().directBuffer(game.size(), game.size());
        for (int i = 0; i < game.size(); i += Long.BYTES) {
            ping.writeLong(random.nextLong() | EACH_BYTE_1);
        }
        pinged();
        hit(ping.retainedDuplicate());
    }

    /** Writes to the peer. Each write has its own buffer: an answer may come before the write's completion. */
    void hit(ByteBuf bytes) {
        writeAndFlush(ctx, new RdmaWrite(bytes, remote, 0));
    }

    /** Looks at the memory at once. */
    void scan() {
        while (scanned < game.size() && !hasZero((long) VIEW.getAcquire(view, scanned))) {
            scanned += Long.BYTES;
        }
        if (scanned == game.size()) {
            arrived();
        }
    }

    /** Returns whether a byte is 0. Subtracting 1 from each byte sets the highest bit of the lowest zero. */
    private static boolean hasZero(long bytes) {
        return (bytes - EACH_BYTE_1 & ~bytes & EACH_BYTE_128) != 0;
    }

    private void arrived() {
        number++;
        if (!client) {
            ByteBuf copy = ctx.alloc().directBuffer(game.size(), game.size());
            copy.writeBytes(memory.buf(), 0, game.size());
            // The client writes again only when it has the pong, which is posted after this fill.
            fill();
            hit(copy);
            return;
        }
        int first = game.check() ? 0 : game.size() - Long.BYTES;
        if (!ByteBufUtil.equals(ping, first, memory.buf().slice(0, game.size()), first, game.size() - first)) {
            wrong();
        }
        fill();
        if (ponged()) {
            ping();
        } else {
            watch.stop();
        }
    }

    @Override
    long counted(long told) {
        return number;
    }

    private void releasePing() {
        if (ping != null) {
            ping.release();
            ping = null;
        }
    }
}
