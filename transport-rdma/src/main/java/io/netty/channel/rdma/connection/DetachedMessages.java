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
 * Flushed messages that are to be sent after the close of their channel. Their promises fail with the close. After that
 * the application may change memory to which it has kept a reference, so these bytes are copied.
 *
 * <p>No more bytes are sent than a TCP socket would have taken, as with epoll's channels: a close discards the bytes
 * that the kernel has not taken yet. Otherwise the close of a channel whose peer does not read, by which servers defend
 * themselves, would free nothing.
 *
 * <p>On the loop of the connection.
 */
final class DetachedMessages {
    /**
     * The most bytes in the process, so that peers can't take all memory by means of many closed channels. Linux bounds
     * the memory of sockets without an owner as well (tcp_max_orphans and tcp_mem, tcp(7)).
     */
    private static final long MAX_TOTAL = PlatformDependent.maxDirectMemory() / 8;

    /** A source of messages: see {@link ChannelOutboundBuffer#forEachFlushedMessage}. */
    interface Source {
        void forEach(MessageProcessor processor) throws Exception;
    }

    private final ArrayDeque<Object> messages = new ArrayDeque<>();
    private final ByteBufAllocator alloc;
    private final StreamCounters counters;
    private final long max;
    private long bytes;
    /** Bytes at the beginning of the message that is taken next, which have arrived and are left out. */
    private int sent;

    private DetachedMessages(int sent, ByteBufAllocator alloc, StreamCounters counters, long max) {
        this.sent = sent;
        this.alloc = alloc;
        this.counters = counters;
        this.max = max;
    }

    /**
     * Takes references to messages, or copies of them, up to a file that can't be read.
     *
     * @param headSent bytes of the first message that have arrived, if it is a buffer.
     * @param max      the most bytes to take.
     * @param inFlight bytes in flight, which are taken in any case.
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

    /** Takes a message, or the part for which there is room. Returns whether there is room for more. */
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
        counters.addDetached(taken);
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

    /** Returns whether a reference is enough: others can't change the bytes, and it keeps little more memory. */
    private static boolean isOwn(ByteBuf buf) {
        return buf instanceof CellByteBuf && !isShared(buf) && buf.readableBytes() >= buf.capacity() >> 1;
    }

    /**
     * Returns whether somebody else may change the bytes of a message after its promise is done. This is false for a
     * buffer of this transport with a single reference, unless it is a slice of another buffer or wrapped. (It is false
     * for file regions, whose bytes are the file's.)
     */
    static boolean isShared(Object msg) {
        return msg instanceof ByteBuf &&
                !((msg instanceof CellByteBuf || msg instanceof ReceivedByteBuf) && ((ByteBuf) msg).refCnt() == 1);
    }

    /**
     * Copies a buffer to the heap. A channel may be closed because direct memory has run out. In that case the JDK
     * looks for some for half a second (Bits.reserveMemory), which would block the event loop.
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

    /** The first message, or {@code null}. */
    Object current() {
        return messages.peek();
    }

    /** Gives the messages to the processor as long as the processor returns true. */
    void forEach(MessageProcessor processor) throws Exception {
        for (Object msg : messages) {
            if (!processor.processMessage(msg)) {
                return;
            }
        }
    }

    /** Notes that so many bytes of the first message are done. */
    void progress(long done) {
        // A region may write more than its count.
        long counted = Math.min(done, bytes);
        counters.addDetached(-counted);
        bytes -= counted;
    }

    /** Removes the first message, which is done. */
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
