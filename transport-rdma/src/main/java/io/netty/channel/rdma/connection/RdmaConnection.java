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

import io.netty.channel.rdma.loop.CompletionHandler;
import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.channel.rdma.loop.LoopEvents;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.move.CompletionRelay;
import io.netty.channel.rdma.loop.move.ConnectionIdMigration;
import io.netty.channel.rdma.stream.StreamEvent;
import io.netty.channel.rdma.stream.StreamMachine;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.stream.StreamState;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletions;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The queue pair of a byte-stream channel and all that belongs to it: posts what the protocol says, takes
 * completions and connection manager events, and outlives the channel until the end of the connection has reached the
 * peer.
 *
 * <p>On the loop that its channel is registered with, which may change: see {@link ConnectionIdMigration}. The
 * completion queue stays with the loop that it was made on: see {@link CompletionRelay}.
 */
public final class RdmaConnection extends CompletionHandler
        implements LoopEvents.Listener, ConnectionIdMigration.Owner, OutgoingConnection {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaConnection.class);

    /** Maximum time of a connection's end after all bytes are sent. Then its resources are released anyway. */
    public static final long END_TIMEOUT_MILLIS = 3_000;
    private static final long NONE = -1;

    private final ConnectionOwner owner;
    private final ReadLoop readLoop;
    private final LoopBinding loop;
    private final ConnectionId id;
    private final ConnectionResources resources;
    private final StreamMachine stream;
    private final RdmaInbound inbound;
    private final ReceiveQueue receives;
    private final ConnectionLife life;
    private final SendPath sendPath;
    /** Messages that have come before the data of their peer. */
    private final List<Runnable> early = new ArrayList<>();
    /** {@code null} before the connection is established. */
    private StreamCounters.Record record;

    /** {@code null} if the connection has never left its first loop. */
    private CompletionRelay relay;
    private boolean newInput;
    private boolean endedByDisconnect;
    private long sent = NONE;
    private LoopEvents.Listener listener;

    private RdmaConnection(ConnectionOwner owner, LoopBinding loop, ConnectionId id, LoopEvents.Listener listener,
                           ConnectionResources resources) throws Exception {
        this.owner = owner;
        readLoop = owner.readLoop();
        this.id = id;
        this.listener = listener;
        this.resources = resources;
        this.loop = loop;
        stream = resources.stream;
        receives = resources.receives;
        inbound = new RdmaInbound(owner, resources);
        life = new ConnectionLife(owner, new LifeActions(), stream, loop, resources.options.liveness);
        sendPath = new SendPath(owner, this, resources, life);
        resources.attach(this, owner, sendPath::pumpOutsideOfTurn);
        loop.onUnexpected(this::unexpected);
        resources.counters.open();
    }

    /**
     * A connection by an id that is bound to a device. The id belongs to it on success, and the resources in any case.
     *
     * @param listener gets the events of the id until the connection is {@linkplain #establish established}, which then
     *         gets them itself.
     */
    public static RdmaConnection create(ConnectionOwner owner, LoopBinding loop, ConnectionId id,
                                        LoopEvents.Listener listener, ConnectionResources resources)
            throws Exception {
        try {
            return new RdmaConnection(owner, loop, id, listener, resources);
        } catch (Throwable t) {
            // Not in the constructor: there may be no memory for the object, nor for what its fields begin with.
            resources.closeQueuePair();
            resources.release(null);
            throw t;
        }
    }

    @Override
    public ConnectionParameters parameters() throws VerbsException {
        return resources.parameters();
    }

    /**
     * Opens the connection with the peer's data.
     *
     * @param privateData of the peer's request or answer.
     * @param peerReady whether it is known to be ready to receive. A client's peer is; a server's is once it
     *         has answered.
     */
    public void establish(byte[] privateData, boolean peerReady) throws Exception {
        resources.establish(privateData);
        established(peerReady);
    }

    /** As above, if the protocol's state was told before. */
    public void established(boolean peerReady) throws Exception {
        listener = this;
        loop.handler().events(id.verbs()).listen(id, this);
        life.negotiated();
        if (peerReady) {
            life.peerReady();
            opened(true);
        }
    }

    private void opened(boolean outgoing) {
        record = new StreamCounters.Record(loop, resources, id.localAddress(), id.remoteAddress(),
                owner.providerReason());
        record.open(outgoing);
    }

    /** The peer of an incoming connection has answered. */
    public void answered() {
        life.peerReady();
        completionsDone();
    }

    /** The channel is active: lets messages flow. */
    public void start() {
        if (!isDestroyed()) {
            life.open();
            early.forEach(Runnable::run);
            early.clear();
            sendPath.livenessChanged();
            completionsDone();
        }
    }

    // ---- moving to another loop

    @Override
    public LoopBinding loop() {
        return loop;
    }

    @Override
    public void detach() {
        if (relay == null && !isDestroyed()) {
            relay = new CompletionRelay(resources.device(), resources.queuePair.number(), this, loop);
        }
        if (relay != null) {
            relay.detach();
        }
        loop.detach();
    }

    @Override
    public ConnectionId id() {
        return id;
    }

    @Override
    public LoopEvents.Listener listener() {
        return listener;
    }

    @Override
    public void leave(EventChannel events) throws Exception {
        if (isDestroyed()) {
            throw new ClosedChannelException();
        }
        id.migrate(events);
        loop.handler().forget(id);
        relay.leave();
    }

    @Override
    public void attach(LoopHandler handler) throws Exception {
        if (relay != null) {
            relay.attach(handler);
        }
        loop.attach(handler);
        loop.execute(() -> {
            if (life.isOpened()) {
                sendPath.pump();
            }
        });
    }

    @Override
    public void runTasks() {
        if (relay != null) {
            loop.run();
        }
    }

    // ---- input

    public RdmaInbound inbound() {
        return inbound;
    }

    /** Nobody reads any more. */
    public void discardInput() {
        inbound.discard();
        sendPath.pumpOutsideOfTurn();
    }

    /** Has the application read outside of the turn that the bytes arrived in: that is a turn, too. */
    public void readInTurn(Runnable reading) {
        sendPath.beginTurn();
        try {
            reading.run();
        } finally {
            sendPath.endTurn();
        }
        sendPath.pump();
    }

    private void receive(int message, int length) {
        StreamEvent event;
        try {
            event = length == ReceiveQueue.SENT ?
                    stream.receiveSent(resources.receiveMemory.first().messages(), message) :
                    stream.receive(message, length);
        } catch (StreamProtocolException e) {
            life.fail(e);
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
        case RETRACTED:
            inbound.retracted(stream.arrival());
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
            receives.completed();
            if (success) {
                if (!receives.take(completions, index)) {
                    life.fail(new StreamProtocolException("the peer sent what is not a message of the protocol: " +
                            completions.byteLength(index) + " bytes, " + completions.describe(index)));
                } else if (life.isNegotiated()) {
                    // A message proves that the peer is there, even if the connection manager's event is yet to come.
                    life.peerReady();
                    receive(receives.message, receives.length);
                } else {
                    int message = receives.message;
                    int length = receives.length;
                    early.add(() -> receive(message, length));
                }
            }
        } else if (success) {
            sent = workRequest;
        } else {
            // All before it are done, too. Their messages are not; the connection fails.
            stream.sendQueue().failed(workRequest);
        }
        if (!success) {
            life.broken(completions.status(index));
        }
    }

    @Override
    public void completionsDone() {
        if (isDestroyed()) {
            return;
        }
        if (life.open()) {
            try {
                opened(false);
            } finally {
                // A channel that is not established could not tell of the end either.
                owner.established();
            }
            sendPath.livenessChanged();
        }
        sendPath.beginTurn();
        try {
            sendPath.postReceives();
            boolean acknowledged = sent != NONE;
            if (acknowledged) {
                long upTo = sent;
                sent = NONE;
                sendPath.complete(upTo);
            }
            if (sendPath.liveness != null) {
                sendPath.liveness.heard(acknowledged);
            }
            if (newInput && !life.isClosed()) {
                newInput = false;
                readLoop.read();
            }
        } finally {
            sendPath.endTurn();
        }
        if (life.isClosed() || life.isBroken()) {
            life.advance();
        } else {
            sendPath.pump();
            owner.advanced();
        }
    }

    /** Returns whether it has given everything back. */
    public boolean isDestroyed() {
        return life.isDestroyed();
    }

    /** Why nothing can be sent any more. */
    public IOException writeFailure() {
        return life.writeFailure();
    }

    /** Why it broke, or {@code null} if it did not, or ended without a reason. */
    @Override
    public IOException failure() {
        return life.failure();
    }

    /** Returns whether the peer has said that it sends no more. Bytes may still be under way. */
    boolean isEndedByPeer() {
        return inbound.isEndedByPeer() || endedByDisconnect;
    }

    /** Returns whether the peer has said that it sends no more, and takes no more. */
    public boolean isClosedByPeer() {
        return isEndedByPeer() && stream.state() == StreamState.DISCONNECTED;
    }

    /** The output. */
    public SendPath sendPath() {
        return sendPath;
    }

    // ---- the end

    @Override
    public void connectionEvent(ConnectionEvent event) {
        if (!loop.isHere()) {
            loop.execute(() -> connectionEvent(event));
            return;
        }
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
            // A server that closes before it knows that the connection is established rejects it: for us, a reset.
            life.gone(life.isReady() ? null : new IOException("Connection to " + owner.remote() +
                    " could not be accepted: " + event.describe()));
            break;
        case DEVICE_REMOVAL:
            failed(new IOException(resources.context.device + " was removed"));
            break;
        default:
            logger.debug("{}: {}", owner, event);
        }
    }

    /** The peer has disconnected. */
    public void disconnected() {
        endedByDisconnect = stream.disconnectedByPeer();
        // Bytes, and messages that tell an end from a reset, may still arrive: until the receives are flushed.
        life.gone(null);
    }

    @Override
    public void failed(Throwable cause) {
        life.fail(cause instanceof IOException ? (IOException) cause : new IOException(cause));
    }

    @Override
    public void unexpected(Throwable cause) {
        life.abort(cause);
    }

    /**
     * The channel is closed.
     *
     * @param reset without telling the peer that this is an orderly life.
     */
    public void close(boolean reset) {
        LoopHandler handler = loop.handler();
        if (!handler.isHere()) {
            // The channel could not be registered with another loop.
            try {
                handler.loop().execute(() -> close(reset));
            } catch (RejectedExecutionException e) {
                logger.debug("{}: its event loop has ended, and with it the connection", owner, e);
            }
            return;
        }
        if (!loop.isAttached()) {
            loop.attach(handler);
        }
        // Whoever has shared memory with work requests may change it from now on: they must read no more.
        boolean abort = reset || sendPath.isReadingShared();
        abort |= !sendPath.detach(!abort && life.isReady() && sendPath.isWritable());
        try {
            life.close(abort);
        } catch (Throwable t) {
            // The channel is closed, and nobody asks for the end of the connection again.
            life.abort(t);
            throw t;
        }
    }

    @Override
    public void discard() {
        close(true);
    }

    @Override
    public void destroy() {
        life.destroy();
    }

    /** The end has come: gives everything back. */
    private void release() {
        LoopHandler handler = loop.handler();
        resources.closeQueuePair();
        handler.forget(id);
        if (relay != null) {
            relay.release();
        }
        id.close();
        sendPath.destroy();
        resources.release(relay == null ? this : relay);
        resources.counters.close();
        if (record != null) {
            record.close(life.loss());
        }
    }

    public QueuePairInfo info() throws VerbsException {
        return resources.queuePair.query();
    }

    /** Actions of the state machine, and its questions. */
    private final class LifeActions implements ConnectionLife.Actions {
        private LoopBinding.Timer timer;

        @Override
        public void schedule(Runnable task, long millis) {
            cancel();
            try {
                timer = loop.schedule(task, millis, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                // The loop has ended: its handler destroys what is left.
                logger.debug("{}: no timer", owner, e);
            }
        }

        @Override
        public void disconnect() {
            try {
                id.disconnect();
            } catch (VerbsException e) {
                logger.debug("{}: disconnecting failed", owner, e);
                resources.stop();
            }
        }

        @Override
        public void discardInput() {
            inbound.discard();
        }

        @Override
        public boolean isEndedByPeer() {
            return RdmaConnection.this.isEndedByPeer();
        }

        @Override
        public void send() {
            sendPath.pump();
        }

        @Override
        public boolean isSendingDetached() {
            return sendPath.messages.isSendingDetached();
        }

        @Override
        public boolean isDetachedBeyondLimit() {
            return sendPath.messages.isDetachedBeyondLimit();
        }

        @Override
        public long nanoTime() {
            return loop.nanoTime();
        }

        @Override
        public boolean isFlushed() {
            return receives.isFlushed() && stream.sendQueue().isDrained();
        }

        @Override
        public void release() {
            cancel();
            RdmaConnection.this.release();
        }

        private void cancel() {
            if (timer != null) {
                timer.cancel();
                timer = null;
            }
        }
    }
}
