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
package io.netty.channel.rdma.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundBuffer.MessageProcessor;
import io.netty.channel.rdma.memory.CellByteBuf;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import io.netty.util.internal.PlatformDependent;

import java.util.ArrayDeque;

/**
 * Flushed messages whose channel is closed and which are to be sent nevertheless. Their promises fail with the close,
 * and then the application may use memory again of which it has kept a reference. So these bytes are copied.
 *
 * <p>The bytes are no more than a TCP socket would have taken: what is behind them is not sent, as with epoll's
 * channels, where a close discards what the kernel has not taken yet. Otherwise the close of a channel whose peer does
 * not read, by which servers defend themselves, would free nothing.
 *
 * <p>On the loop of the connection.
 */
final class DetachedMessages {
    /**
     * The most bytes in the process, so that peers can't take all memory by having many channels closed. Linux bounds
     * what sockets without an owner keep as well (tcp_max_orphans and tcp_mem, tcp(7)).
     */
    private static final long MAX_TOTAL = PlatformDependent.maxDirectMemory() / 8;

    /** Where messages come from: see {@link ChannelOutboundBuffer#forEachFlushedMessage}. */
    interface Source {
        void forEach(MessageProcessor processor) throws Exception;
    }

    private final ArrayDeque<Object> messages = new ArrayDeque<>();
    private final ByteBufAllocator alloc;
    private final StreamCounters counters;
    private final long max;
    private long bytes;
    /** Bytes of the message that is taken next, which are left out. */
    private int sent;

    private DetachedMessages(int sent, ByteBufAllocator alloc, StreamCounters counters, long max) {
        this.sent = sent;
        this.alloc = alloc;
        this.counters = counters;
        this.max = max;
    }

    /**
     * Takes references to messages, or copies; none of what comes after a file that can't be read.
     *
     * @param headSent bytes of the first message that have arrived, if that is a buffer.
     * @param max      the most bytes to take.
     * @param inFlight bytes that are taken in any case.
     */
    static DetachedMessages of(Source from, int headSent, ByteBufAllocator alloc, StreamCounters counters,
                               long max, long inFlight) throws Exception {
        long room = Math.min(max, MAX_TOTAL - StreamCounters.TOTAL.detached());
        DetachedMessages detached = new DetachedMessages(headSent, alloc, counters, Math.max(room, inFlight));
        try {
            from.forEach(detached::take);
            return detached;
        } catch (Throwable t) {
            detached.release();
            throw t;
        }
    }

    /** Takes a message, or the part that there is room for. Returns whether there is room for more. */
    private boolean take(Object msg) {
        OutboundRegion region = msg instanceof OutboundRegion ? (OutboundRegion) msg : null;
        if (region != null && region.failure() != null) {
            return false;
        }
        int leftOut = sent;
        sent = 0;
        long length = region == null ? ((ByteBuf) msg).readableBytes() - leftOut : region.inFlight() + region.unread();
        long taken = Math.min(length, max - bytes);
        if (taken == 0 && length > 0) {
            return false;
        }
        if (region != null) {
            if (taken < length) {
                region.truncate(taken);
            }
            add(region.retain());
        } else if (taken == length && isOwn((ByteBuf) msg)) {
            add(((ByteBuf) msg).retain().skipBytes(leftOut));
        } else {
            add(copy((ByteBuf) msg, leftOut, (int) taken));
        }
        counters.detached(taken);
        bytes += taken;
        return taken == length;
    }

    /** Takes over a reference. */
    private void add(ReferenceCounted msg) {
        try {
            messages.add(msg);
        } catch (Throwable t) {
            msg.release();
            throw t;
        }
    }

    /**
     * Returns whether a reference does: nobody else may change the bytes, and little more memory is held than they
     * need.
     */
    private static boolean isOwn(ByteBuf buf) {
        return buf instanceof CellByteBuf && !isShared(buf) && buf.readableBytes() >= buf.capacity() >> 1;
    }

    /**
     * Returns whether somebody else may change the bytes of a message once its promise is done. Nobody has a reference
     * to a buffer of ours with a single one, unless it is a part of another or wrapped. (File regions don't count,
     * whose bytes are the file's.)
     */
    static boolean isShared(Object msg) {
        return msg instanceof ByteBuf &&
                !((msg instanceof CellByteBuf || msg instanceof ReceivedByteBuf) && ((ByteBuf) msg).refCnt() == 1);
    }

    /**
     * Copies a buffer to the heap: a channel may be closed since there is no direct memory, and where that has run out
     * the JDK looks for some for half a second (Bits.reserveMemory), in which the event loop does nothing else.
     */
    private ByteBuf copy(ByteBuf buf, int leftOut, int length) {
        ByteBuf copy = alloc.heapBuffer(length, length);
        try {
            copy.writeBytes(buf, buf.readerIndex() + leftOut, length);
            return copy;
        } catch (Throwable t) {
            copy.release();
            throw t;
        }
    }

    /** Bytes that have not arrived. */
    long bytes() {
        return bytes;
    }

    /** The first one, or {@code null}. */
    Object current() {
        return messages.peek();
    }

    /** Gives them to the processor as long as that returns true. */
    void forEach(MessageProcessor processor) throws Exception {
        for (Object msg : messages) {
            if (!processor.processMessage(msg)) {
                return;
            }
        }
    }

    /** So many bytes of the first one are done. */
    void progress(long done) {
        // A region may write more than it has said.
        long counted = Math.min(done, bytes);
        counters.detached(-counted);
        bytes -= counted;
    }

    /** The first one is done. */
    void remove() {
        ReferenceCountUtil.release(messages.poll());
    }

    void release() {
        while (!messages.isEmpty()) {
            remove();
        }
        progress(bytes);
    }
}
