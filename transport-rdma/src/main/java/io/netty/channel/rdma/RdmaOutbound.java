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
package io.netty.channel.rdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import io.netty.channel.rdma.stream.StreamConnection;
import io.netty.channel.rdma.stream.StreamRequest;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.SendWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What one connection has in flight, and the messages that it comes from.
 *
 * <p>Messages stay in the {@link ChannelOutboundBuffer} until the device has sent them: their promises tell no less,
 * and their memory is not needed twice. {@code posted} is how many bytes at the head are in flight. When messages are
 * discarded before that, by a close for example, those that the device may still read are retained until their work
 * requests are done: {@link #detach()}.
 *
 * <p>On the loop of the connection.
 */
final class RdmaOutbound {
    private final RdmaSocketChannel channel;
    private final DeviceContext device;
    private final QueuePair queuePair;
    private final StreamConnection stream;
    private final LandingBuffer landing;
    private final SendRing ring;
    private final int maxInline;
    private final int maxElements;
    private final int copyThreshold;

    private ChannelOutboundBuffer messages;
    private long posted;
    private boolean completing;
    private boolean detached;
    private List<ByteBuf> held;
    private long heldUntil;
    private long toHold;
    private long lastSignalled = -1;
    private long completedUntil = -1;
    private VerbsException postFailure;

    RdmaOutbound(RdmaSocketChannel channel, ConnectionResources resources) {
        this.channel = channel;
        stream = resources.stream;
        device = resources.context;
        queuePair = resources.queuePair;
        landing = resources.landing;
        ring = resources.ring;
        maxInline = Math.min(queuePair.maxInlineData(), channel.config().maxInline());
        maxElements = Math.min(queuePair.maxSendSges(), Gatherer.MAX_ELEMENTS);
        copyThreshold = channel.config().sendCopyThreshold();
    }

    /**
     * Sends what may be sent of the flushed messages.
     *
     * @return whether that was all.
     */
    boolean gather(Gatherer gatherer, ChannelOutboundBuffer flushed) throws Exception {
        messages = flushed;
        if (completing || detached) {
            // In the middle of completing messages the head is neither in flight nor gone: see complete().
            return false;
        }
        removeEmpty();
        return gatherer.gather(flushed, posted);
    }

    /** All work requests up to this one have been sent. Completes their messages, which may run user code. */
    void complete(long sequence) {
        completedUntil = Math.max(completedUntil, sequence);
        completing = true;
        try {
            long bytes = 0;
            while (!ring.isEmpty() && ring.first() <= sequence) {
                int kind = ring.kind();
                int length = ring.length();
                ring.remove();
                if (kind == SendRing.BYTES) {
                    bytes += length;
                } else if (kind != SendRing.NOTHING && !detached) {
                    // Regions are alone in flight, so there are no bytes before this.
                    posted -= length;
                    messages.progress(length);
                    if (kind == SendRing.REGION_END && !detached) {
                        messages.remove();
                    }
                }
            }
            if (bytes > 0 && !detached) {
                messages.removeBytes(bytes);
                // Not before: a listener that flushes in removeBytes() would find these bytes at the head, not in
                // flight.
                posted = detached ? 0 : posted - bytes;
            }
            removeEmpty();
        } finally {
            completing = false;
        }
        releaseHeld(false);
    }

    /** A work request failed: it and all before it are done. Their messages are not; the connection fails. */
    void failed(long sequence) {
        completedUntil = Math.max(completedUntil, sequence);
    }

    /** Completes empty messages at the head, which no work request stands for. */
    private void removeEmpty() {
        while (!detached && posted == 0 && messages != null && isEmpty(messages.current())) {
            messages.remove();
        }
    }

    private static boolean isEmpty(Object msg) {
        return msg instanceof ByteBuf && !((ByteBuf) msg).isReadable() ||
                msg instanceof FileRegion && ((FileRegion) msg).transferred() >= ((FileRegion) msg).count();
    }

    /**
     * The messages are about to be discarded: from now on nothing happens to them, but what the device may still read
     * stays.
     */
    void detach() {
        if (detached) {
            return;
        }
        detached = true;
        if (messages != null && posted > 0) {
            held = new ArrayList<>();
            heldUntil = ring.last();
            toHold = posted;
            try {
                messages.forEachFlushedMessage(this::hold);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
        posted = 0;
        messages = null;
    }

    private boolean hold(Object msg) {
        if (msg instanceof ByteBuf) {
            ByteBuf buf = (ByteBuf) msg;
            toHold -= buf.readableBytes();
            held.add(buf.retain());
            return toHold > 0;
        }
        // The bytes of a region were copied.
        return false;
    }

    private void releaseHeld(boolean all) {
        if (held != null && (all || ring.first() > heldUntil)) {
            held.forEach(ByteBuf::release);
            held = null;
        }
    }

    /** The queue pair is gone, and with it all work requests. */
    void destroy() {
        detach();
        while (!ring.isEmpty()) {
            ring.remove();
        }
        releaseHeld(true);
    }

    /** Whether bytes of messages are in flight. */
    boolean isInFlight() {
        return posted > 0;
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

    RdmaMetrics metrics() {
        return channel.metrics();
    }

    int maxInline() {
        return maxInline;
    }

    /** Whether an entry for the peer's target SGL fits into its work request. */
    boolean isEntryInline(StreamRequest request) {
        return request.length() <= queuePair.maxInlineData();
    }

    int maxElements() {
        return maxElements;
    }

    int copyThreshold() {
        return copyThreshold;
    }

    long sendBufferRoom() {
        return posted == 0 ? Integer.MAX_VALUE : channel.config().getSendBufferSize() - posted;
    }

    boolean isHead(FileRegion region) {
        return messages.current() == region;
    }

    void validate(FileRegion region) throws IOException {
        if (region instanceof DefaultFileRegion) {
            channel.validate((DefaultFileRegion) region);
        }
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

    void added(long sequence, int kind, int length, ByteBuf memory) {
        ring.add(sequence, kind, length, memory);
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
