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

import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoop;
import io.netty.channel.rdma.stream.ConnectionData;
import io.netty.channel.rdma.stream.StreamConnection;
import io.netty.channel.rdma.stream.StreamEvent;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.stream.StreamRequest;
import io.netty.channel.rdma.stream.StreamState;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.channel.rdma.verbs.WorkCompletions;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The queue pair of a {@link RdmaSocketChannel} and all that belongs to it: posts what the protocol says, takes
 * completions and connection manager events, and outlives the channel until the end of the connection has reached the
 * peer.
 *
 * <p>On the loop that it was made on.
 */
final class RdmaConnection implements CompletionHandler, LoopEvents.Listener {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaConnection.class);

    private static final long NONE = -1;
    /** How long the end of a connection may take before its resources are released anyway. */
    static final long CLOSE_TIMEOUT_MILLIS = 3_000;
    /** When memory to send from ran out and nothing in flight will tell that there is some again. */
    private static final long STARVED_RETRY_MILLIS = 1;

    private final RdmaSocketChannel channel;
    private final RdmaIoHandler handler;
    private final EventLoop loop;
    private final ConnectionId id;
    private final ConnectionResources resources;
    private final QueuePair queuePair;
    private final StreamConnection stream;
    private final RdmaInbound inbound;
    private final RdmaOutbound outbound;
    private final KeepAlive keepAlive;

    private boolean touched;
    private boolean inTurn;
    /** The peer is known to be ready to receive. */
    private boolean ready;
    /** The channel is active. */
    private boolean started;
    /** {@link StreamConnection#establish} was called. */
    private boolean established;
    private boolean stalled;
    private boolean newInput;
    /** The channel is closed. */
    private boolean closed;
    private boolean abort;
    /** The queue pair is in the error state, or will be. */
    private boolean broken;
    private boolean disconnected;
    private boolean lost;
    private boolean destroyed;
    private int receivesPosted;
    private int receivesConsumed;
    private long sent = NONE;
    private IOException failure;
    /** Receive completions before the peer's connection data was known: immediate and length. */
    private int[] early = new int[16];
    private int earlyCount;
    private Future<?> timer;

    private RdmaConnection(RdmaSocketChannel channel, RdmaIoHandler handler, ConnectionId id,
                           ConnectionResources resources) throws Exception {
        this.channel = channel;
        this.handler = handler;
        this.id = id;
        this.resources = resources;
        loop = channel.eventLoop();
        queuePair = resources.queuePair;
        stream = resources.stream;
        inbound = new RdmaInbound(channel, resources.landing);
        outbound = new RdmaOutbound(channel, resources);
        keepAlive = new KeepAlive(loop, this::testPeer);
        receivesPosted = resources.streamConfig.receiveQueueDepth();
        resources.attach(handler, loop, this, this::segmentFreed);
        handler.events().listen(id, this);
    }

    /**
     * Creates the queue pair for an id that is bound to a device. On success the connection becomes the listener of the
     * id, and its owner.
     */
    static RdmaConnection create(RdmaSocketChannel channel, RdmaIoHandler handler, ConnectionId id) throws Exception {
        return create(channel, handler, id, ConnectionResources.create(id, channel.config(), handler));
    }

    /** As above, with a queue pair that exists. The resources belong to this class in any case. */
    static RdmaConnection create(RdmaSocketChannel channel, RdmaIoHandler handler, ConnectionId id,
                                 ConnectionResources resources) throws Exception {
        boolean created = false;
        try {
            RdmaConnection connection = new RdmaConnection(channel, handler, id, resources);
            created = true;
            return connection;
        } finally {
            if (!created) {
                resources.closeQueuePair();
                resources.release();
            }
        }
    }

    /** What to tell the peer. */
    byte[] localData() {
        return resources.localData();
    }

    /**
     * What the peer told us.
     *
     * @param peerReady whether it is known to be ready to receive. A client's peer is; a server's is once it
     *         has answered.
     */
    void establish(ConnectionData peer, boolean peerReady) {
        stream.establish(peer);
        established(peerReady);
    }

    /** As above, if the protocol's state was told before. */
    void established(boolean peerReady) {
        established = true;
        ready = peerReady;
    }

    /** The peer of an incoming connection has answered. */
    void answered() {
        ready = true;
        completionsDone();
    }

    /** The channel is active: lets messages flow. */
    void start() {
        if (!destroyed) {
            started = true;
            replayEarly();
            keepAliveChanged();
            completionsDone();
        }
    }

    private void replayEarly() {
        for (int i = 0; i < earlyCount; i += 2) {
            receive(early[i], early[i + 1]);
        }
        earlyCount = 0;
    }

    // ---- output

    /**
     * Sends what may be sent of the flushed messages.
     *
     * @throws IOException if the connection can't carry them any more.
     */
    void write(ChannelOutboundBuffer messages) throws Exception {
        if (broken || stream.state() == StreamState.DISCONNECTED || stream.state() == StreamState.FAILED) {
            if (outbound.isInFlight() && !lost) {
                // What is in flight will tell more.
                stalled = true;
                return;
            }
            throw resetByPeer(null);
        }
        pump(messages);
    }

    /** Posts the control messages that are due, and data, in one chain. */
    private void pump(ChannelOutboundBuffer messages) throws Exception {
        // Credits must not be granted before the receives that stand for them are posted.
        postReceives();
        if (!ready || broken) {
            stalled |= messages != null;
            return;
        }
        Gatherer gatherer = handler.gatherer();
        if (!gatherer.begin(outbound)) {
            stalled |= messages != null;
            loop.execute(this::pumpAll);
            return;
        }
        try {
            for (StreamRequest request; (request = stream.nextControl()) != null;) {
                gatherer.control(request);
            }
            if (messages != null) {
                stalled = !outbound.gather(gatherer, messages);
            }
        } finally {
            gatherer.end();
            keepAlive.sent();
        }
        if (outbound.postFailure() != null) {
            fail(outbound.postFailure());
        } else if (stalled && gatherer.isStarved() && outbound.isDrained()) {
            schedule(this::pumpAll, STARVED_RETRY_MILLIS);
        }
    }

    private void pumpAll() {
        if (destroyed) {
            return;
        }
        try {
            if (stalled && !closed) {
                channel.flushAgain();
            }
            pump(null);
        } catch (Exception e) {
            failed(e);
        }
    }

    /** Whether a close should wait for bytes in flight. */
    boolean isSending() {
        return !broken && outbound.isInFlight();
    }

    void shutdownOutput() {
        outbound.detach();
        stream.shutdownOutput();
        pumpAll();
    }

    // ---- input

    RdmaInbound inbound() {
        return inbound;
    }

    private void segmentFreed() {
        if (!inTurn && !destroyed) {
            pumpAll();
        }
    }

    /** The application has read: the peer may have to be told. */
    void afterRead() {
        if (!inTurn && !destroyed) {
            pumpAll();
        }
    }

    private void receive(int immediate, int length) {
        StreamEvent event;
        try {
            event = stream.receive(immediate, length);
        } catch (StreamProtocolException e) {
            fail(e);
            return;
        }
        switch (event) {
        case DATA:
            inbound.arrived(stream.arrival());
            newInput = true;
            break;
        case SHUTDOWN:
        case DISCONNECT:
            inbound.end();
            newInput = true;
            break;
        default:
        }
    }

    // ---- completions

    @Override
    public void completed(WorkCompletions completions, int index) {
        long workRequest = completions.workRequestId(index);
        boolean success = completions.isSuccess(index);
        if (workRequest == ConnectionResources.RECEIVE) {
            receivesPosted--;
            if (success) {
                receivesConsumed++;
                if (!completions.hasImmediate(index)) {
                    fail(new StreamProtocolException("the peer sent a message without immediate data"));
                } else if (established) {
                    // A message proves that the peer is there, even if the connection manager's event is yet to come.
                    ready = true;
                    receive(completions.immediate(index), completions.byteLength(index));
                } else {
                    early(completions.immediate(index), completions.byteLength(index));
                }
            }
        } else if (success) {
            sent = workRequest;
            stream.completed(workRequest);
        } else {
            outbound.failed(workRequest);
        }
        if (!success) {
            broken = true;
            if (failure == null && completions.status(index) != WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
                failure = resetByPeer(WorkCompletionStatus.describe(completions.status(index)));
            }
        }
    }

    private void early(int immediate, int length) {
        if (earlyCount == early.length) {
            early = Arrays.copyOf(early, earlyCount * 2);
        }
        early[earlyCount++] = immediate;
        early[earlyCount++] = length;
    }

    @Override
    public void completionsDone() {
        if (destroyed) {
            return;
        }
        if (ready && !started && !closed) {
            started = true;
            channel.acceptor().established();
            keepAliveChanged();
        }
        inTurn = true;
        try {
            postReceives();
            if (sent != NONE) {
                long upTo = sent;
                sent = NONE;
                outbound.complete(upTo);
            }
            if (newInput && !closed) {
                newInput = false;
                channel.readable();
            }
        } finally {
            inTurn = false;
        }
        advance();
    }

    private void postReceives() {
        int count = receivesConsumed;
        if (count > 0 && !broken) {
            receivesConsumed = 0;
            receivesPosted += count;
            int posted = queuePair.postEmptyReceives(ConnectionResources.RECEIVE, count);
            if (posted < count) {
                receivesPosted -= count - posted;
                broken = true;
                failure = failure == null ? queuePair.postException() : failure;
            }
        }
    }

    /** Does what follows from the state. */
    private void advance() {
        if (destroyed) {
            return;
        }
        if (closed) {
            advanceClose();
        } else if (broken) {
            disconnect();
            if (receivesPosted == 0 && outbound.isDrained()) {
                lost();
            }
        } else {
            pumpAll();
            channel.advanceClose();
        }
    }

    // ---- the end

    @Override
    public void connectionEvent(ConnectionEvent event) {
        switch (event.type()) {
        case ESTABLISHED:
            answered();
            break;
        case DISCONNECTED:
            disconnected();
            break;
        case REJECTED:
        case UNREACHABLE:
        case CONNECT_ERROR:
            gone(new IOException("Connection to " + channel.remote + " could not be accepted: " + event.describe()));
            break;
        case DEVICE_REMOVAL:
            failed(new IOException(resources.context.device + " was removed"));
            break;
        default:
            logger.debug("{}: {}", channel, event);
        }
    }

    /** The peer has disconnected. */
    void disconnected() {
        // Whether that is the end or a reset, what has arrived will tell: so wait until the receives are flushed.
        gone(null);
    }

    private void gone(IOException cause) {
        if (failure == null) {
            failure = cause;
        }
        broken = true;
        disconnect();
        advance();
        if (!destroyed && !lost) {
            // The flushes come at once, if the device works.
            schedule(this::lost, CLOSE_TIMEOUT_MILLIS);
        }
    }

    /** The queue pair goes to the error state. */
    private void disconnect() {
        if (disconnected) {
            return;
        }
        disconnected = true;
        broken = true;
        try {
            id.disconnect();
        } catch (VerbsException e) {
            logger.debug("{}: disconnecting failed", channel, e);
            try {
                queuePair.toError();
            } catch (VerbsException e2) {
                logger.debug("{}: the queue pair could not be stopped", channel, e2);
            }
        }
    }

    /** All that could arrive has arrived. */
    private void lost() {
        if (lost || destroyed) {
            return;
        }
        lost = true;
        if (closed) {
            advanceClose();
        } else if (!started) {
            channel.notEstablished(failure == null ? resetByPeer(null) : failure);
        } else if (inbound.isEnded() && !outbound.isInFlight() &&
                (failure == null || stream.state() == StreamState.DISCONNECTED)) {
            // An orderly end, even if a last credit did not reach the peer. What waits to be sent fails.
            if (stalled) {
                channel.flushAgain();
            }
            channel.readable();
            channel.advanceClose();
        } else {
            channel.connectionLost(failure == null ? resetByPeer(null) : failure);
        }
    }

    private IOException resetByPeer(String detail) {
        return new IOException("Connection reset by peer: " + channel.remote + (detail == null ? "" : " (" +
                detail + ')'));
    }

    /** The connection can't go on, whatever the peer does. */
    private void fail(IOException cause) {
        if (failure == null) {
            failure = cause;
        }
        boolean first = !lost;
        lost = true;
        disconnect();
        if (first && !closed) {
            // Not from here, since this may be in the middle of anything.
            loop.execute(started ? () -> channel.connectionLost(failure) : () -> channel.notEstablished(failure));
        }
    }

    @Override
    public void failed(Throwable cause) {
        fail(cause instanceof IOException ? (IOException) cause : new IOException(cause));
    }

    /**
     * The channel is closed.
     *
     * @param reset without telling the peer that this is an orderly end.
     */
    void close(boolean reset) {
        closed = true;
        abort |= reset;
        outbound.detach();
        if (!ready || broken) {
            destroy();
            return;
        }
        schedule(this::destroy, CLOSE_TIMEOUT_MILLIS);
        advanceClose();
    }

    private void advanceClose() {
        if (!broken && !abort) {
            inbound.discard();
            if (stream.state() != StreamState.DISCONNECTED) {
                stream.disconnect();
            }
            pumpAll();
            if (!broken && !stream.isDrained()) {
                return;
            }
        }
        disconnect();
        destroy();
    }

    private void schedule(Runnable task, long millis) {
        try {
            if (timer != null) {
                timer.cancel(false);
            }
            timer = loop.schedule(task, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The loop has ended: its handler destroys what is left.
            logger.debug("{}: no timer", channel, e);
        }
    }

    @Override
    public void destroy() {
        if (destroyed) {
            return;
        }
        destroyed = true;
        broken = true;
        if (timer != null) {
            timer.cancel(false);
        }
        keepAlive.stop();
        resources.closeQueuePair();
        handler.forget(id);
        id.close();
        outbound.destroy();
        resources.release();
    }

    /** The option was changed, or the connection just established. */
    void keepAliveChanged() {
        if (channel.config().isKeepAlive() && started && !broken) {
            keepAlive.start(channel.config().keepAliveIntervalMillis());
        } else {
            keepAlive.stop();
        }
    }

    private void testPeer() {
        if (!broken && !closed) {
            stream.keepAlive();
            pumpAll();
        }
    }

    @Override
    public boolean isTouched() {
        return touched;
    }

    @Override
    public void touched(boolean isTouched) {
        touched = isTouched;
    }
}
