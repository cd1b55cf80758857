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
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundBuffer.MessageProcessor;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

/**
 * The flushed messages of a connection in their order: the messages of its channel, or those that the closed channel
 * has left. Some of their bytes are in flight.
 *
 * <p>Messages stay in the {@link ChannelOutboundBuffer} until the device has sent them, so that their promises tell of
 * that, and their memory is not needed twice. {@code inFlight} bytes at the head are in flight, behind {@code headSent}
 * bytes of the first buffer that were sent. Its reader index does not move, because the same buffer may be among the
 * messages more than once. The memory that the device reads belongs to the work requests, so messages can be discarded
 * at any time. If the channel is about to discard them, for example by a close, {@link #detach} takes over those that
 * are still to be sent.
 *
 * <p>On the loop of the connection.
 */
final class OutboundMessages {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(OutboundMessages.class);

    private final ConnectionOwner owner;
    private final StreamOptions options;
    private final StreamCounters counters;
    /** The messages of the channel; {@code null} if there are none yet, or will be no more. */
    private ChannelOutboundBuffer flushed;
    /** {@code null} unless the channel has left messages that are to be sent. */
    private DetachedMessages left;
    private boolean detached;
    private int headSent;
    private long inFlight;
    private boolean completing;

    OutboundMessages(ConnectionOwner owner, ConnectionResources resources) {
        this.owner = owner;
        options = resources.options;
        counters = resources.counters;
    }

    /** Sets the messages of the channel, which has flushed. Returns false if its messages are not sent any more. */
    boolean flushed(ChannelOutboundBuffer messages) {
        if (!detached) {
            flushed = messages;
        }
        return !detached;
    }

    /** Returns whether there are messages, in flight or not. */
    boolean any() {
        return current() != null;
    }

    private Object current() {
        return flushed != null ? flushed.current() : left != null ? left.current() : null;
    }

    /** Gives the messages to the processor as long as the processor returns true. */
    void forEach(MessageProcessor processor) throws Exception {
        if (flushed != null) {
            flushed.forEachFlushedMessage(processor);
        } else if (left != null) {
            left.forEach(processor);
        }
    }

    /** The bytes of all messages before the bytes that are to be sent next. */
    long sentOrInFlight() {
        return headSent + inFlight;
    }

    /** Bytes in flight. */
    long inFlight() {
        return inFlight;
    }

    /** Notes that the next bytes are in flight. */
    void posted(int bytes) {
        inFlight += bytes;
    }

    // ---- completion

    /** Returns whether messages are being completed, so that the head is neither in flight nor gone. */
    boolean isCompleting() {
        return completing;
    }

    /** Completes the messages of bytes that have been sent, which may run user code. */
    void complete(long bytes) {
        completing = true;
        try {
            completeBytes(bytes);
            removeEmpty();
        } finally {
            completing = false;
        }
    }

    /**
     * Completes one message at a time. A listener of its promise may close the channel, and {@link #detach} needs
     * correct counts. If the connection is broken, the close calls {@link #destroy} at once, and no message is left.
     */
    private void completeBytes(long bytes) {
        long rest = bytes;
        while (rest > 0 && inFlight > 0 && any()) {
            boolean before = detached;
            Object msg = current();
            OutboundRegion region = msg instanceof OutboundRegion ? (OutboundRegion) msg : null;
            long length = region == null ? Math.max(0, ((ByteBuf) msg).readableBytes() - headSent) : region.inFlight();
            int done = (int) Math.min(rest, length);
            boolean whole = done == length && (region == null || region.isRead());
            rest -= done;
            inFlight -= done;
            if (region != null) {
                region.arrived(done);
            } else {
                headSent += done;
            }
            progress(done);
            if (whole && detached == before) {
                headSent = 0;
                remove();
            }
        }
        inFlight -= Math.min(rest, inFlight);
    }

    private void progress(long bytes) {
        if (flushed != null) {
            flushed.progress(bytes);
        } else {
            left.progress(bytes);
        }
    }

    private void remove() {
        if (flushed != null) {
            flushed.remove();
        } else {
            left.remove();
        }
    }

    /** Completes empty messages at the head, which have no work request. */
    void removeEmpty() {
        while (inFlight == 0 && isEmpty(current())) {
            headSent = 0;
            remove();
        }
    }

    private static boolean isEmpty(Object msg) {
        return msg instanceof ByteBuf && !((ByteBuf) msg).isReadable() ||
                msg instanceof OutboundRegion && ((OutboundRegion) msg).isRead();
    }

    // ---- the end

    /**
     * Separates the messages from the channel, which is about to discard them.
     *
     * @param send whether to send flushed messages, as far as a socket would.
     * @return false if they can't be sent.
     */
    boolean detach(boolean send) {
        if (detached || flushed == null) {
            return true;
        }
        detached = true;
        ChannelOutboundBuffer messages = flushed;
        flushed = null;
        if (send && messages.current() != null) {
            try {
                left = DetachedMessages.of(messages::forEachFlushedMessage, headSent, owner.allocator(), counters,
                        options.maxDetachedBytes(), inFlight);
                headSent = 0;
            } catch (Throwable t) {
                logger.debug("{}: what was flushed can't be sent any more", owner, t);
                return false;
            }
        }
        return true;
    }

    /** Returns whether others may change messages in flight, of which there are some, after their promises. */
    boolean isShared() {
        long[] rest = { headSent + inFlight };
        try {
            forEach(msg -> {
                if (DetachedMessages.isShared(msg)) {
                    return false;
                }
                rest[0] -= msg instanceof ByteBuf ? ((ByteBuf) msg).readableBytes() : ((OutboundRegion) msg).inFlight();
                return rest[0] > 0;
            });
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        // Messages in flight that are gone may be shared.
        return rest[0] > 0;
    }

    /** Returns whether messages that the channel has left are still to be sent. */
    boolean isSendingDetached() {
        return left != null && left.current() != null;
    }

    /** Returns whether more bytes of these are left than a closed channel may leave. */
    boolean isDetachedBeyondLimit() {
        return left != null && left.bytes() > options.maxDetachedBytes();
    }

    /** Releases the messages: the queue pair is gone, and with it all work requests. */
    void destroy() {
        detach(false);
        inFlight = 0;
        if (left != null) {
            left.release();
        }
    }
}
