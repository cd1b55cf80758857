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
import io.netty.channel.rdma.memory.DeviceContext;
import io.netty.channel.rdma.memory.MemoryRange;
import io.netty.channel.rdma.memory.RequestMemory;
import io.netty.channel.rdma.stream.StreamConnection;
import io.netty.channel.rdma.stream.StreamRequest;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.SendWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;


/**
 * What one connection has in flight, and the messages that it comes from.
 *
 * <p>Messages stay in the {@link ChannelOutboundBuffer} until the device has sent them: their promises tell no less,
 * and their memory is not needed twice. {@code posted} is how many bytes at the head are in flight, behind {@code
 * headSent} bytes of the first buffer that were sent. Its reader index does not move: the same buffer may be among the
 * messages more than once. The memory that the device reads belongs to the work requests, so messages can be discarded
 * at any time. When the channel is about to do that, by a close for example, {@link #detach} takes them over if they
 * are to be sent nevertheless.
 *
 * <p>On the loop of the connection.
 */
final class RdmaOutbound {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaOutbound.class);

    private static final long NONE = -1;

    private final ConnectionOwner owner;
    private final StreamOptions options;
    private final StreamCounters counters;
    private final DeviceContext device;
    private final QueuePair queuePair;
    private final StreamConnection stream;
    private final LandingBuffer landing;
    private final SendRing ring;
    private final int maxInline;
    private final int maxElements;
    private final int copyThreshold;

    private ChannelOutboundBuffer flushed;
    /** {@code null} if there are none yet, or will be no more. */
    private OutboundMessages messages;
    /** {@code null} unless the channel has left messages that are to be sent. */
    private DetachedMessages detachedMessages;
    private boolean detached;
    /** Nothing more is posted until the channel is closed. */
    private boolean held;
    private int headSent;
    private long posted;
    private boolean completing;
    /** Not all messages were sent, the last time. */
    private boolean unsent;
    private long lastSignalled = NONE;
    private long completedUntil = NONE;
    private VerbsException postFailure;

    RdmaOutbound(ConnectionOwner owner, ConnectionResources resources) {
        this.owner = owner;
        options = resources.options;
        counters = resources.counters;
        stream = resources.stream;
        device = resources.context;
        queuePair = resources.queuePair;
        landing = resources.receiveMemory.first();
        ring = resources.ring;
        maxInline = options.values.isSet(QueuePairOptions.MAX_INLINE) ?
                Math.min(queuePair.maxInlineData(), options.get(QueuePairOptions.MAX_INLINE)) :
                queuePair.maxInlineData();
        maxElements = Math.min(queuePair.maxSendSges(), Gatherer.MAX_ELEMENTS);
        copyThreshold = options.get(StreamOptions.SEND_COPY_THRESHOLD);
    }

    /** The channel's messages, some of which are new. */
    void flushed(ChannelOutboundBuffer newMessages) {
        if (flushed != newMessages && !detached) {
            flushed = newMessages;
            messages = OutboundMessages.of(newMessages);
        }
    }

    /**
     * Sends what may be sent of the flushed messages.
     *
     * @return whether that was all.
     */
    boolean gather(Gatherer gatherer) throws Exception {
        if (messages == null) {
            return true;
        }
        if (held) {
            return false;
        }
        if (completing) {
            // In the middle of completing messages the head is neither in flight nor gone: see complete().
            return false;
        }
        removeEmpty();
        if (unsent && posted > 0 && (stream.writable() == 0 || messageRoom() <= 0)) {
            // Completions, or credits, come first. There may be many messages to skip, so this is worth a look.
            return false;
        }
        unsent = !gatherer.gather(messages, headSent + posted);
        return !unsent;
    }

    /** All work requests up to this one have been sent. Completes their messages, which may run user code. */
    void complete(long sequence) {
        completedUntil = Math.max(completedUntil, sequence);
        long bytes = ring.complete(sequence);
        while (!ring.isEmpty() && ring.first() <= sequence) {
            ring.remove();
        }
        // Not before: what is posted next takes the places of these in the ring.
        stream.completed(sequence);
        completeMessages(bytes);
    }

    /**
     * Completes messages whose bytes were copied into work requests that are posted, which may run user code. As with a
     * socket, their promises need not wait for the peer; so nobody need be woken by the completion of such a request.
     *
     * @return whether there were any.
     */
    boolean completeCopied() {
        long bytes = postFailure != null || completing ? 0 : ring.complete(NONE);
        if (bytes > 0) {
            completeMessages(bytes);
        }
        return bytes > 0;
    }

    private void completeMessages(long bytes) {
        completing = true;
        try {
            completeBytes(bytes);
            removeEmpty();
        } finally {
            completing = false;
        }
    }

    /**
     * One message at a time, since a listener of its promise may close the channel, and {@link #detach} must find the
     * counts as they are. If the connection is broken, the close is {@link #destroy} at once, and nothing is left.
     */
    private void completeBytes(long bytes) {
        long rest = bytes;
        while (rest > 0 && posted > 0 && hasMessages()) {
            OutboundMessages from = messages;
            Object msg = from.current();
            OutboundRegion region = msg instanceof OutboundRegion ? (OutboundRegion) msg : null;
            long length = region == null ? Math.max(0, ((ByteBuf) msg).readableBytes() - headSent) : region.inFlight();
            int done = (int) Math.min(rest, length);
            boolean whole = done == length && (region == null || region.isRead());
            rest -= done;
            posted -= done;
            if (region != null) {
                region.arrived(done);
            } else {
                headSent += done;
            }
            from.progress(done);
            if (whole && messages == from) {
                headSent = 0;
                from.remove();
            }
        }
        posted -= Math.min(rest, posted);
    }

    /** A work request failed: it and all before it are done. Their messages are not; the connection fails. */
    void failed(long sequence) {
        completedUntil = Math.max(completedUntil, sequence);
    }

    /** Completes empty messages at the head, which no work request stands for. */
    private void removeEmpty() {
        while (posted == 0 && messages != null && isEmpty(messages.current())) {
            headSent = 0;
            messages.remove();
        }
    }

    private static boolean isEmpty(Object msg) {
        return msg instanceof ByteBuf && !((ByteBuf) msg).isReadable() ||
                msg instanceof OutboundRegion && ((OutboundRegion) msg).isRead();
    }

    /**
     * The channel is about to discard its messages.
     *
     * @param send whether to send nevertheless what was flushed, as far as a socket would.
     * @return whether that will be done.
     */
    boolean detach(boolean send) {
        held = false;
        if (detached || messages == null) {
            return true;
        }
        detached = true;
        OutboundMessages flushedMessages = messages;
        messages = null;
        if (send && flushedMessages.current() != null) {
            try {
                detachedMessages = DetachedMessages.of(flushedMessages, headSent, owner.allocator(), counters,
                        options.maxDetachedBytes(), posted);
                messages = detachedMessages;
                headSent = 0;
            } catch (Throwable t) {
                logger.debug("{}: what was flushed can't be sent any more", owner, t);
                return false;
            }
        }
        return true;
    }

    /** Posts no more until the channel is closed. */
    void hold() {
        held = true;
    }

    boolean isHeld() {
        return held;
    }

    /**
     * Whether work requests in flight read memory that somebody else may change once the promises of their messages
     * are done.
     */
    boolean isReadingShared() {
        if (posted == 0 || !ring.isInPlace()) {
            return false;
        }
        SharedCheck check = new SharedCheck(headSent + posted);
        try {
            if (messages != null) {
                messages.forEach(check);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        // Of messages that are gone nobody knows.
        return check.shared || check.rest > 0;
    }

    /** Looks at the messages in flight. */
    private static final class SharedCheck implements MessageProcessor {
        long rest;
        boolean shared;

        /** @param bytes at the head of the messages that were posted. */
        SharedCheck(long bytes) {
            rest = bytes;
        }

        @Override
        public boolean processMessage(Object msg) {
            shared = DetachedMessages.isShared(msg);
            rest -= msg instanceof ByteBuf ? ((ByteBuf) msg).readableBytes() : ((OutboundRegion) msg).inFlight();
            return !shared && rest > 0;
        }
    }

    /** Whether messages that the channel has left are still to be sent. */
    boolean isSendingDetached() {
        return detachedMessages != null && detachedMessages.current() != null;
    }

    /** Whether more of them is in flight than a closed channel may leave. */
    boolean isDetachedBeyondLimit() {
        return detachedMessages != null && detachedMessages.bytes() > options.maxDetachedBytes();
    }

    /** The queue pair is gone, and with it all work requests. */
    void destroy() {
        detach(false);
        while (!ring.isEmpty()) {
            ring.remove();
        }
        posted = 0;
        if (detachedMessages != null) {
            detachedMessages.release();
            messages = null;
        }
    }

    /** Whether flushed messages wait for the peer, and for nothing else. */
    boolean isHeldUpByPeer() {
        return !held && stream.isHeldUpByPeer() && hasMessages();
    }

    /** Whether there are flushed messages, in flight or not. */
    boolean hasMessages() {
        return messages != null && messages.current() != null;
    }

    /** Whether bytes of messages are in flight. */
    boolean isInFlight() {
        return posted > 0;
    }

    /** The number of the last work request that is known to be done. */
    long completedUntil() {
        return completedUntil;
    }

    /**
     * Whether all work requests that ask for a completion have one. The others, if any, came last and carry nothing.
     */
    boolean isDrained() {
        return completedUntil >= lastSignalled;
    }

    /** Why work requests could not be posted, or {@code null}. */
    VerbsException postFailure() {
        return postFailure;
    }

    StreamConnection stream() {
        return stream;
    }

    StreamCounters counters() {
        return counters;
    }

    int maxInline() {
        return maxInline;
    }

    /** Whether an entry for the peer's target SGL fits into its work request. */
    boolean isEntryInline(StreamRequest request) {
        return request.length() <= queuePair.maxInlineData();
    }

    /** Whether the message of a work request is sent behind its bytes: the device has no immediate data. */
    boolean isSendingMessages() {
        return device.iwarp;
    }

    int maxElements() {
        return maxElements;
    }

    int copyThreshold() {
        return copyThreshold;
    }

    /** See {@link StreamOptions#isPeerAwaited}. */
    boolean isPeerAwaited() {
        return options.isPeerAwaited();
    }

    long staged() {
        return ring.staged();
    }

    /** How many bytes the next message may have for the device and for {@code SO_SNDBUF}. */
    long messageRoom() {
        return posted == 0 ? device.maxMessage
                : Math.min(device.maxMessage, options.sendBufferSize() - posted);
    }

    /** Whether the device can send from there. */
    boolean isRegistered(RequestMemory memory) {
        return memory.range().regionOrNull(device) != null;
    }

    int localKey(MemoryRange range) throws VerbsException {
        return range.region(device).lkey();
    }

    int landingKey() throws VerbsException {
        return localKey(landing.range());
    }

    long outgoingEntry(StreamRequest request) {
        return landing.outgoingEntry(ring.index(request.sequence()), request.entryHead(), request.entryTail());
    }

    void sendInPlace(RequestMemory memory) {
        ring.sendInPlace(memory);
    }

    void discardNext() {
        ring.discardNext();
    }

    void added(long sequence, int length, ByteBuf memory, boolean copied) {
        ring.add(sequence, length, memory, copied);
        posted += length;
    }

    void signalled(long sequence) {
        lastSignalled = sequence;
    }

    void post(SendWorkRequests chain) {
        if (postFailure == null && queuePair.postSend(chain) < chain.size()) {
            // The send queue is never overrun, so the queue pair is broken.
            postFailure = queuePair.postException();
        }
    }
}
