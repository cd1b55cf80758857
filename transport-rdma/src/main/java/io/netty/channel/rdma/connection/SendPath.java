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
import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.Retry;
import io.netty.channel.rdma.memory.DeviceContext;
import io.netty.channel.rdma.monitor.Recorder;
import io.netty.channel.rdma.stream.SendQueue;
import io.netty.channel.rdma.stream.StreamMachine;
import io.netty.channel.rdma.stream.StreamState;
import io.netty.channel.rdma.stream.StreamWorkRequest;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.SendWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Posts the control messages of a connection's protocol and the bytes of its flushed messages. It does so when a post
 * may have become possible: after a flush, and at the end of a turn. On the loop of the connection.
 */
public final class SendPath implements Liveness.Connection {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(SendPath.class);

    /** The most chains that are posted in a row. An epoll channel writes up to 16 times (WRITE_SPIN_COUNT). */
    private static final int MAX_CHAINS = 16;
    /** A number that is less than that of each work request. */
    private static final long NONE = -1;

    /** States of the flushed messages that are still to be sent. */
    private enum Unsent {
        NOTHING,
        /** Flushed messages, perhaps no new ones, have to be looked at. */
        PERHAPS,
        /** The last time, there was no room for all of them. */
        SOME
    }

    final StreamMachine stream;
    final SendRing ring;
    final OutboundMessages messages;
    final StreamCounters counters;
    final DeviceContext device;
    final int maxInline;
    final int maxElements;
    final int copyThreshold;
    private final ConnectionOwner owner;
    private final RdmaConnection connection;
    private final LoopBinding loop;
    private final ConnectionResources resources;
    private final SendQueue queue;
    private final QueuePair queuePair;
    private final ConnectionLife life;
    /** Tries again after a while, if memory to send from ran out and no completion will report that there is some. */
    private final Retry retry;

    /** {@code null} as long as no option has asked for it. */
    Liveness liveness;
    private Unsent unsent = Unsent.NOTHING;
    /** A turn of the connection is under way, and its end posts. */
    private boolean inTurn;
    /** A flush of this turn was posted at once. */
    private boolean flushedInTurn;
    /** Nothing more is posted until the channel is closed. */
    private boolean held;
    private VerbsException postFailure;
    /** Flushed bytes wait for the peer only. */
    private boolean heldUp;
    /** The open event of a recording, or {@code null}. */
    private Object stall;
    /** The gatherer of the loop of this handler. */
    private Gatherer gatherer;
    private LoopHandler gathererHandler;

    SendPath(ConnectionOwner owner, RdmaConnection connection, ConnectionResources resources, ConnectionLife life) {
        this.owner = owner;
        this.connection = connection;
        this.resources = resources;
        this.life = life;
        loop = connection.loop();
        counters = resources.counters;
        stream = resources.stream;
        queue = stream.sendQueue();
        ring = resources.ring;
        messages = new OutboundMessages(owner, resources);
        device = resources.context;
        queuePair = resources.queuePair;
        OptionValues options = resources.options.values;
        maxInline = options.isSet(QueuePairOptions.MAX_INLINE) ?
                Math.min(queuePair.maxInlineData(), options.get(QueuePairOptions.MAX_INLINE)) :
                queuePair.maxInlineData();
        maxElements = Math.min(queuePair.maxSendSges(), Gatherer.MAX_ELEMENTS);
        copyThreshold = options.get(StreamOptions.SEND_COPY_THRESHOLD);
        retry = new Retry((task, millis) -> loop.schedule(task, millis, TimeUnit.MILLISECONDS), this::pump);
    }

    // ---- when to send

    /** A turn of the connection begins. */
    void beginTurn() {
        inTurn = true;
        flushedInTurn = false;
    }

    /** The turn ends; {@link #pump} is next. */
    void endTurn() {
        inTurn = false;
    }

    /**
     * Sends the flushed messages of an active channel. If they can't be sent any more, the owner is {@linkplain
     * ConnectionOwner#writeFailed told} before the return.
     */
    public void flushed(ChannelOutboundBuffer buffer) {
        if (!loop.isHere()) {
            // The channel is between two loops.
            loop.execute(() -> {
                if (messages.flushed(buffer)) {
                    toBeLookedAt(true);
                    pump();
                }
            });
        } else if (messages.flushed(buffer)) {
            sendFlushed();
        }
    }

    /** Posts all that may be posted, unless the end of the turn will do so. */
    void pumpOutsideOfTurn() {
        if (!inTurn) {
            pump();
        }
    }

    /** Posts all that may be posted. */
    void pump() {
        if (life.isDestroyed()) {
            return;
        }
        try {
            boolean usable = life.isReady() && !life.isBroken();
            if (usable) {
                resources.receiveMemory.beforeOffer();
            }
            if ((life.isClosed() || unsent != Unsent.NOTHING) && messages.any()) {
                if (life.isClosed()) {
                    post(true);
                } else {
                    sendFlushed();
                }
                return;
            }
            // A flush in the middle of a completion may have had nothing new. Then there is no other look.
            unsent = Unsent.NOTHING;
            if (usable && !stream.mayHaveControl()) {
                completeCopied();
            } else {
                post(false);
            }
        } catch (RejectedExecutionException e) {
            logger.debug("{}: the event loop has ended; its handler destroys what is left", owner, e);
        } catch (Throwable t) {
            connection.failed(t);
        }
    }

    /**
     * Sends the messages of the channel as far as possible, and fails the write if the connection can't send them any
     * more. See <i>A turn</i> in the package description.
     */
    private void sendFlushed() {
        try {
            if (isWritable()) {
                if (inTurn && flushedInTurn) {
                    toBeLookedAt(true);
                } else {
                    post(true);
                    flushedInTurn = unsent == Unsent.NOTHING;
                }
            } else if (isFailureLater()) {
                toBeLookedAt(true);
            } else {
                throw life.writeFailure();
            }
        } catch (Throwable t) {
            if (t instanceof Error) {
                // The channel would only end its output, but it is not known which bytes of the stream are missing.
                connection.failed(t);
            }
            owner.writeFailed(t);
        }
    }

    private void toBeLookedAt(boolean data) {
        if (data && unsent == Unsent.NOTHING) {
            unsent = Unsent.PERHAPS;
        }
    }

    /** Returns whether the connection can still send, now or later. */
    boolean isWritable() {
        return !life.isBroken() && stream.state() != StreamState.DISCONNECTED && stream.state() != StreamState.FAILED;
    }

    /** Returns whether to fail the write later, after requests in flight, or after the bytes of a peer that ended. */
    private boolean isFailureLater() {
        return !life.isLost() && (isInFlight() || life.isBroken()) ||
                connection.isEndedByPeer() && !owner.isEndReported();
    }

    // ---- sending

    /** Posts due control messages and, if wanted, data. That may complete messages, whose listeners flush more. */
    private void post(boolean data) throws Exception {
        int chains = 0;
        do {
            if (++chains > MAX_CHAINS) {
                toBeLookedAt(true);
                loop.execute(this::pump);
                return;
            }
            if (!postChain(data)) {
                toBeLookedAt(data);
                return;
            }
        } while (completeCopied() && data && messages.any());
    }

    /** Posts one chain of work requests. Returns false if data has to wait for something else. */
    private boolean postChain(boolean data) throws Exception {
        if (!life.isReady() || life.isBroken()) {
            return false;
        }
        Gatherer gatherer = gatherer();
        if (!gatherer.begin(this)) {
            loop.execute(this::pump);
            return false;
        }
        try {
            if (stream.mayHaveControl()) {
                // A credit must not be granted before its receive is posted.
                postReceives();
                if (life.isBroken()) {
                    return false;
                }
                for (StreamWorkRequest request; (request = stream.nextControl()) != null;) {
                    gatherer.control(request);
                }
            }
            if (data) {
                gather(gatherer);
            }
        } finally {
            if (gatherer.end()) {
                loop.handler().posted();
            }
            if (liveness != null) {
                liveness.posted();
            }
        }
        if (postFailure != null) {
            life.fail(postFailure);
        } else if (!queue.isDrained()) {
            retry.done();
        } else if (unsent != Unsent.NOTHING && gatherer.isStarved()) {
            retry.later();
        }
        return true;
    }

    private Gatherer gatherer() {
        LoopHandler handler = loop.handler();
        if (handler != gathererHandler) {
            // The connection is new or has moved.
            gatherer = handler.shared(Gatherer.class, Gatherer::new);
            gathererHandler = handler;
        }
        return gatherer;
    }

    /** Posts the receives again that were used, if they are needed now. */
    void postReceives() {
        int count = life.isBroken() ? 0 : stream.receivesToPost();
        if (count > 0) {
            try {
                resources.receives.post(count);
            } catch (VerbsException e) {
                life.broken(e);
            }
        }
    }

    /** Adds as many of the flushed messages as may be sent. */
    private void gather(Gatherer gatherer) throws Exception {
        toBeLookedAt(true);
        Unsent before = unsent;
        // If the gatherer throws, a later look could not send anything.
        unsent = Unsent.NOTHING;
        unsent = gather(gatherer, before);
        heldUp(unsent != Unsent.NOTHING && !held && stream.isHeldUpByPeer() && messages.any());
    }

    private Unsent gather(Gatherer gatherer, Unsent before) throws Exception {
        if (!messages.any()) {
            return Unsent.NOTHING;
        }
        if (held || messages.isCompleting()) {
            return before;
        }
        messages.removeEmpty();
        if (before == Unsent.SOME && isInFlight() && (stream.writable() == 0 || messageRoom() <= 0)) {
            // Completions or credits must come first. This check is useful, because there may be many messages to skip.
            return before;
        }
        return gatherer.gather(messages) ? Unsent.NOTHING : Unsent.SOME;
    }

    private void heldUp(boolean now) {
        if (now != heldUp) {
            heldUp = now;
            if (now) {
                counters.stalled();
                stall = Recorder.stallBegins();
            } else {
                counters.resumed();
                Recorder.stallEnds(stall, owner.remote());
                stall = null;
            }
        }
    }

    // ---- what the gatherer asks, and adds

    /** Maximum of bytes in the next message that the device and {@code SO_SNDBUF} allow. */
    long messageRoom() {
        return isInFlight() ? Math.min(device.maxMessage, resources.options.sendBufferSize() - messages.inFlight())
                : device.maxMessage;
    }

    /** See {@link StreamOptions#isPeerAwaited}. */
    boolean isPeerAwaited() {
        return resources.options.isPeerAwaited();
    }

    /** Returns whether an entry for the peer's target SGL fits into its work request. */
    boolean isEntryInline(StreamWorkRequest request) {
        return request.length() <= queuePair.maxInlineData();
    }

    /** Adds an entry for the peer's target SGL to the work request that writes it. */
    void addEntry(StreamWorkRequest request, SendWorkRequests chain) throws VerbsException {
        ReceiveBuffer receiveBuffer = resources.receiveMemory.first();
        long address = receiveBuffer.outgoingEntry(ring.index(request.sequence()),
                request.entryHead(), request.entryTail());
        chain.addSge(address, request.length(), receiveBuffer.lkey());
    }

    /** The request is about to be posted. Takes over the reference to the memory, which may be {@code null}. */
    void added(StreamWorkRequest request, int bytes, ByteBuf memory, boolean isCopied) {
        ring.add(request.sequence(), bytes, memory, isCopied);
        messages.posted(bytes);
    }

    void postChain(SendWorkRequests chain) {
        if (postFailure == null && queuePair.postSend(chain) < chain.size()) {
            // The send queue is never overrun, so the queue pair is broken.
            postFailure = queuePair.postException();
        }
    }

    // ---- completion

    /** Completes the messages of all work requests up to this one, which were sent. This may run user code. */
    void complete(long sequence) {
        long bytes = ring.complete(sequence);
        for (long done = queue.oldest(); done <= sequence; done++) {
            ring.remove(done);
        }
        // After the removal, because the next requests take the places of these in the ring.
        queue.completed(sequence);
        messages.complete(bytes);
    }

    /**
     * Completes messages whose bytes were copied into posted work requests, which may run user code. As with a socket,
     * their promises need not wait for the peer. So the completion of such a request need not wake the loop.
     *
     * @return whether there were such messages.
     */
    private boolean completeCopied() {
        long bytes = postFailure != null || messages.isCompleting() ? 0 : ring.complete(NONE);
        if (bytes > 0) {
            messages.complete(bytes);
        }
        return bytes > 0;
    }

    // ---- what others ask

    /** Returns whether there are flushed bytes that have not arrived yet, but still may. */
    public boolean isSending() {
        return isInFlight() && !life.isBroken() || unsent != Unsent.NOTHING && isWritable();
    }

    /** Returns whether bytes of messages are in flight. */
    public boolean isInFlight() {
        return messages.inFlight() > 0;
    }

    /**
     * Returns whether work requests in flight read memory that others may change after the promises of the messages are
     * done.
     */
    public boolean isReadingShared() {
        return isInFlight() && ring.isInPlace() && messages.isShared();
    }

    // ---- does the peer answer?

    /** Starts or adapts the checks of the peer, because options were changed or the connection was established. */
    public void livenessChanged() {
        if (liveness == null && resources.options.liveness.isOn()) {
            liveness = new Liveness(loop, this, resources.options.liveness);
        }
        if (liveness != null && isUsable()) {
            liveness.start();
        }
    }

    @Override
    public boolean isUsable() {
        return life.isOpen();
    }

    @Override
    public boolean isWaiting() {
        return !queue.isDrained() || unsent != Unsent.NOTHING && isWritable();
    }

    @Override
    public boolean isAcknowledged() {
        // Also copied bytes: their requests have numbers too.
        return queue.doneUntil() >= queue.next();
    }

    @Override
    public void probe() {
        stream.keepAlive();
        pump();
    }

    @Override
    public void timedOut(String why) {
        life.timedOut(new IOException("Connection timed out: " + owner.remote() + " (" + why + ')'));
    }

    // ---- the end

    /** Fails the flushed messages, without closing the channel. */
    public void fail(ChannelOutboundBuffer buffer, IOException cause) {
        detach(false);
        unsent = Unsent.NOTHING;
        while (buffer.current() != null) {
            buffer.remove(cause);
        }
    }

    /** Ends the output after the requests that were posted. */
    public void shutdownOutput() {
        if (isReadingShared()) {
            // A write has failed, and all others fail with it: see RdmaConnection.close().
            life.fail(new IOException("The output to " + owner.remote() + " ended with bytes under way"));
        }
        detach(false);
        unsent = Unsent.NOTHING;
        stream.shutdownOutput();
        pump();
    }

    /** Posts no more messages until the channel is closed. */
    public void hold() {
        held = true;
    }

    public boolean isHeld() {
        return held;
    }

    /** See {@link OutboundMessages#detach}. */
    boolean detach(boolean send) {
        held = false;
        return messages.detach(send);
    }

    /** Releases everything: the queue pair is gone, and with it all work requests. */
    void destroy() {
        if (liveness != null) {
            liveness.stop();
        }
        detach(false);
        for (long sequence = queue.oldest(); sequence < queue.next(); sequence++) {
            ring.remove(sequence);
        }
        messages.destroy();
        heldUp(false);
    }
}
