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
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaWrite;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Writes to the peer's memory when the peer has written to the memory of this end. Only the data show that: their last
 * 8 bytes are the token.
 *
 * <p>This relies on a property of most adapters and processors: bytes of a write become visible in the order of their
 * addresses. The InfiniBand Architecture Specification guarantees the bytes only after a completion of a later message
 * (vol. 1, 9.5 and o9-20), and processors that are not x86 may order otherwise. So with the check, bytes that are still
 * old when the token is there are looked at again for a while before they count as wrong.
 */
class WritingEnd extends PingPongEnd {
    private MemoryToken token;
    private ByteBuf view;
    private MemoryWatch watch;
    private long number = 1;
    private long expected;

    WritingEnd(Game game, boolean client) {
        super(game, client);
    }

    @Override
    void begin() {
        token = new MemoryToken(memory);
        view = memory.buf().slice(0, game.size());
        expected = data.end(number);
        if (client) {
            pinged();
            hit();
        }
        watch = new MemoryWatch((SingleThreadEventLoop) ctx.channel().eventLoop(), this::look);
        whenClosed(watch::stop);
        watch.start();
    }

    private void hit() {
        // The answer replaces the completion, so the write is unsignalled. The channel asks for a completion from time
        // to time.
        ctx.write(new RdmaWrite(data.message(number).retain(), remote, 0).unsignalled(), ctx.voidPromise());
        ctx.flush();
    }

    private void look() {
        if (token.get() == expected && isComplete(view, number)) {
            arrived();
        }
    }

    private void arrived() {
        if (client) {
            if (!ponged()) {
                watch.stop();
                return;
            }
            pinged();
            number++;
            hit();
        } else {
            hit();
            number++;
        }
        expected = data.end(number);
    }

    @Override
    long counted(long told) {
        return number - 1;
    }

    /** The last 8 bytes of memory that a device or another process writes to. */
    static final class MemoryToken {
        private static final VarHandle VIEW =
                MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

        private final ByteBuffer memory;
        private final int index;

        /** @param memory its length is a multiple of 8, and it lives longer than this object */
        MemoryToken(RegisteredMemory memory) {
            this.memory = memory.buf().nioBuffer(0, memory.buf().capacity());
            index = memory.buf().capacity() - Long.BYTES;
        }

        /**
         * Reads the token. The compiler can't assume that the value is unchanged, and values that are read afterwards
         * are at least as new. A plain read guarantees neither.
         */
        long get() {
            return (long) VIEW.getAcquire(memory, index);
        }
    }
}
