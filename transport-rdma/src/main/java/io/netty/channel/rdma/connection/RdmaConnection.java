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
 * The queue pair of a byte-stream channel with all that belongs to it. It gets completions and events of the connection
 * manager, and outlives the channel until the end of the connection has reached the peer.
 *
 * <p>On the loop that its channel is registered with, which may change: see {@link ConnectionIdMigration}. The
 * completion queue stays with the loop that it was made on: see {@link CompletionRelay}.
 */
public final class RdmaConnection extends CompletionHandler
        implements LoopEvents.Listener, ConnectionIdMigration.Owner, OutgoingConnection {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaConnection.class);

    /** Maximum time of a connection's end after all bytes are sent. Then its resources are released in any case. */
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
    /** Messages that have come before the peer's private data. */
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
     * Creates a connection with an id that is bound to a device. On success the connection owns the id. It owns the
     * resources in any case.
     *
     * @param listener gets the events of the id until the connection is {@linkplain #establish established}. Then the
     *         connection gets them.
     */
    public static RdmaConnection create(ConnectionOwner owner, LoopBinding loop, ConnectionId id,
                                        LoopEvents.Listener listener, ConnectionResources resources)
            throws Exception {
        try {
            return new RdmaConnection(owner, loop, id, listener, resources);
        } catch (Throwable t) {
            // Not in the constructor, because there may be no memory for the object or its first fields.
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
     * @param peerReady whether the peer is known to be ready to receive. This is true for the peer of a client, and for
     *         that of a server after its answer.
     */
    public void establish(byte[] privateData, boolean peerReady) throws Exception {
        resources.establish(privateData);
        established(peerReady);
    }

    /** Does the same, if the protocol got the private data before. */
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

    /** Continues, because the peer of an incoming connection has answered. */
    public void answered() {
        life.peerReady();
        completionsDone();
    }

    /** Starts the flow of messages, because the channel is active. */
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

    /** Drops all input from now on. */
    public void discardInput() {
        inbound.discard();
        sendPath.pumpOutsideOfTurn();
    }

    /** Lets the application read outside of the turn in which the bytes arrived. The reading is a turn, too. */
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
                    // A message proves that the peer is ready, even before the event of the connection manager.
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
            // The requests before it are done, too, but their messages are not completed, because the connection fails.
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
                // Otherwise the channel could not tell of the end either.
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

    /** Returns whether the connection has released everything. */
    public boolean isDestroyed() {
        return life.isDestroyed();
    }

    /** The reason why nothing can be sent any more. */
    public IOException writeFailure() {
        return life.writeFailure();
    }

    /** The reason why the connection broke, or {@code null} if it did not, or ended without a reason. */
    @Override
    public IOException failure() {
        return life.failure();
    }

    /** Returns whether the peer has ended its stream. Bytes may still be in flight. */
    boolean isEndedByPeer() {
        return inbound.isEndedByPeer() || endedByDisconnect;
    }

    /** Returns whether the peer has ended its stream, and takes no more bytes. */
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
            // A server that closes before it knows that the connection is established rejects it. Here that is a reset.
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

    /** Ends the connection, because the peer has disconnected. */
    public void disconnected() {
        endedByDisconnect = stream.disconnectedByPeer();
        // Bytes, and messages that distinguish an end from a reset, may still arrive until the receives are flushed.
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
     * @param reset whether to end without telling the peer of an orderly end.
     */
    public void close(boolean reset) {
        LoopHandler handler = loop.handler();
        if (!handler.isHere()) {
            // The channel could not be registered with its new loop.
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
        // The application may change memory that it shares with work requests now, so they must not read it.
        boolean abort = reset || sendPath.isReadingShared();
        abort |= !sendPath.detach(!abort && life.isReady() && sendPath.isWritable());
        try {
            life.close(abort);
        } catch (Throwable t) {
            // The channel is closed, so there is no other call for the end of the connection.
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

    /** Releases everything at the end. */
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

    /** The methods that the state machine calls. */
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
