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
package io.netty.channel.rdma.message;

import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.connection.Liveness;
import io.netty.channel.rdma.connection.LivenessOptions;
import io.netty.channel.rdma.connection.OutgoingConnection;
import io.netty.channel.rdma.connection.QueuePairResources;
import io.netty.channel.rdma.loop.CompletionHandler;
import io.netty.channel.rdma.loop.LoopReceiveQueue;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.QueuePairAttributes;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.channel.rdma.verbs.WorkCompletions;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import java.util.EnumSet;
import java.util.Set;

/**
 * The queue pair of a {@link RdmaMessageChannel}, from before the connection is made until it has ended. On the loop of
 * the channel.
 */
final class MessageConnection extends CompletionHandler implements OutgoingConnection, Liveness.Connection {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(MessageConnection.class);

    /** Maximum time for the device to flush the requests in flight after the end of the connection. */
    private static final long FLUSH_MILLIS = 3_000;
    /**
     * Maximum time for a device to complete a shared receive that a message had begun to use when the connection ended.
     * Devices report its end by an event, but soft-RoCE (Linux 6.1) does not.
     */
    private static final long SETTLE_MILLIS = 100;

    /** States in their order; the package description has a table of the transitions. */
    private enum State {
        /** The queue pair takes work requests. */
        OPEN,
        /** The queue pair takes no work requests any more, or has to be stopped: at the end of this turn. */
        BROKEN,
        /** Disconnected. Work requests complete, among them receives with the peer's last messages. */
        FLUSHING,
        /** The work requests have all come back, and the channel was told. It has to be closed. */
        LOST,
        /** The channel is closed. Receives that the queue pair shares may have to come back. */
        CLOSED,
        /** Everything is given back. */
        RELEASED
    }

    private final RdmaMessageChannel channel;
    /** {@code null} if the connection is made without the connection manager. */
    private final ConnectionId id;
    /** The maker of a connection without the connection manager, else {@code null}. */
    final ManualConnector manual;
    final ChannelQueuePair queuePair;
    final RdmaMessageMetrics metrics = new RdmaMessageMetrics();
    final MessageSender sender;
    final MessageReceiver receiver;
    /** {@code null} if there never was one. */
    private MemoryWindows windows;
    /** The initiator depth of the queue pair; -1 before it is asked for. */
    private int initiatorDepth = -1;
    /** {@code null} before the connection is established. */
    private MessageRecord record;
    /** {@code null} as long as no option has asked for it. */
    private Liveness liveness;
    /** Signs of the peer in the completions of this turn: a message, and an acknowledgement of its device. */
    private boolean heard;
    private boolean acknowledged;
    /** {@code null} if the channel posts its receives itself. */
    private final ManualReceives manualReceives;
    private State state = State.OPEN;
    /** No shared receive is in use, because the peer can't send yet, or can't send any more. */
    private boolean settled;
    private IOException failure;
    /** The failure fails no promise of a write. */
    private boolean unexpected;
    /** Set when code for the connection has thrown: completions are not handled any more. */
    private boolean aborted;
    /** The call that cancels the timer. */
    private Runnable timer;

    /**
     * Creates the queue pair, with its receives posted.
     *
     * @param id bound to a device. On success it belongs to this object.
     */
    MessageConnection(RdmaMessageChannel channel, ConnectionId id) throws Exception {
        this(channel, id, QueuePairResources.device(id), null);
    }

    /**
     * Creates the queue pair, with its receives posted, for a connection without the connection manager.
     *
     * @param bound an id that is bound to an address of the device, and belongs to the caller; or {@code null}.
     */
    MessageConnection(RdmaMessageChannel channel, Device device, ConnectionId bound) throws Exception {
        this(channel, null, device, bound);
    }

    private MessageConnection(RdmaMessageChannel channel, ConnectionId id, Device device, ConnectionId bound)
            throws Exception {
        this.channel = channel;
        this.id = id;
        settled = id != null;
        RdmaMessageChannelConfig config = channel.config;
        int receiveSize = config.get(RdmaMessageChannelConfig.RECEIVE_BUFFER_SIZE);
        boolean shared = config.get(RdmaMessageChannelConfig.SHARED_RECEIVE_QUEUE);
        boolean manualReceive = config.get(RdmaMessageChannelConfig.MANUAL_RECEIVES);
        if (shared && manualReceive) {
            throw new IllegalArgumentException("SHARED_RECEIVE_QUEUE and MANUAL_RECEIVES are set (expected: one: " +
                    "shared receives belong to no channel)");
        }
        queuePair = ChannelQueuePair.create(channel, id, device, config.queuePair,
                RdmaMessageChannelConfig.MAX_SEND_SGES,
                manualReceive ? RdmaMessageChannelConfig.MAX_RECEIVE_SGES : null,
                shared ? receiveSize : ChannelQueuePair.NOT_SHARED, this);
        Receives receives = null;
        try {
            manualReceives = manualReceive ? new ManualReceives(channel.pipeline(), queuePair,
                    () -> channel.postEarly(this)) : null;
            receives = manualReceive ? manualReceives
                    : shared ? new SharedReceives(channel, queuePair, metrics)
                    : new OwnReceives(channel, queuePair, receiveSize, channel::isPosting, metrics);
            receiver = new MessageReceiver(channel, queuePair, receives, metrics, channel::isReading,
                    channel::connectionFailed);
            sender = new MessageSender(channel, this, queuePair);
            manual = id == null ? new ManualConnector(queuePair, config, bound) : null;
            if (manual != null) {
                manual.init();
            }
            receiver.postAll();
        } catch (Throwable t) {
            queuePair.close();
            if (receives != null) {
                receives.release();
            }
            throw t;
        }
        metrics.open();
    }

    /**
     * Records the established connection.
     *
     * @param providerReason the reason for the choice of the provider, or {@code null}.
     */
    void opened(boolean outgoing, String providerReason) {
        record = new MessageRecord(queuePair, metrics, channel.localAddress(), channel.remoteAddress(), providerReason);
        record.open(outgoing);
        livenessChanged();
    }

    // ---- does the peer live?

    /** Applies the liveness options, after a change or when the connection is established. */
    void livenessChanged() {
        LivenessOptions options = channel.config.liveness;
        if (record == null || isBroken()) {
            return;
        }
        if (liveness == null && options.isOn()) {
            liveness = queuePair.liveness(this, options);
        }
        if (liveness != null) {
            liveness.start();
        }
    }

    /** Tells liveness that work requests of the send queue were posted. */
    void posted() {
        if (liveness != null) {
            liveness.posted();
        }
    }

    @Override
    public boolean isUsable() {
        return !isBroken();
    }

    @Override
    public boolean isWaiting() {
        return sender.isWaiting();
    }

    @Override
    public boolean isAcknowledged() {
        return sender.isDrained();
    }

    @Override
    public void probe() {
        sender.probe();
    }

    @Override
    public void timedOut(String why) {
        fail(new IOException("Connection timed out: " + channel.remoteAddress() + " (" + why + ')'));
    }

    // ---- what belongs to it

    /** Posts a receive for the application. */
    void postReceive(ReceiveTarget target) throws IOException {
        if (manualReceives == null) {
            throw new IllegalStateException("MANUAL_RECEIVES was not set when the connection was made: the channel " +
                    "posts its receives itself");
        }
        if (isBroken()) {
            throw new ClosedChannelException();
        }
        manualReceives.post(target);
    }

    MemoryWindows windows() {
        if (windows == null) {
            windows = new MemoryWindows(channel, this, queuePair);
        }
        return windows;
    }

    @Override
    public ConnectionParameters parameters() throws VerbsException {
        return parameters(channel.config.get(RdmaMessageChannelConfig.CONNECT_DATA), null);
    }

    /**
     * The parameters to connect or accept with.
     *
     * @param request that is accepted, or {@code null}.
     */
    ConnectionParameters parameters(byte[] data, ConnectionEvent request) throws VerbsException {
        RdmaMessageChannelConfig config = channel.config;
        int initiatorDepth = queuePair.limit(RdmaMessageChannelConfig.INITIATOR_DEPTH,
                queuePair.context().attributes.maxInitiatorDepth(), "its max_qp_init_rd_atom");
        int responderResources = queuePair.limit(RdmaMessageChannelConfig.RESPONDER_RESOURCES,
                queuePair.context().attributes.maxResponderResources(), "its max_qp_rd_atom");
        if (request != null) {
            initiatorDepth = Math.min(initiatorDepth, request.initiatorDepth());
            responderResources = Math.min(responderResources, request.responderResources());
        }
        return config.queuePair.parameters(id, data).initiatorDepth(Math.min(initiatorDepth, 255))
                .responderResources(Math.min(responderResources, 255));
    }

    /** Restricts the peer, because the connection manager allows everything. The queue pair can send now. */
    void permit() throws VerbsException {
        settled = false;
        Set<RdmaPermission> permissions = channel.config.get(RdmaMessageChannelConfig.REMOTE_PERMISSIONS);
        if (!permissions.containsAll(EnumSet.complementOf(EnumSet.of(RdmaPermission.LOCAL_WRITE)))) {
            queuePair.queuePair().modify(new QueuePairAttributes()
                    .accessFlags(RdmaPermission.accessFlags(permissions)));
        }
    }

    /**
     * Returns whether the connection has RDMA reads and atomics. A device may hold back for ever those of a queue pair
     * whose initiator depth is 0, as soft-RoCE does ({@code check_init_depth()} in {@code rxe_req.c}).
     */
    boolean hasReads() throws VerbsException {
        if (initiatorDepth < 0) {
            initiatorDepth = info().initiatorDepth();
        }
        return initiatorDepth != 0;
    }

    QueuePairInfo info() throws VerbsException {
        return queuePair.queuePair().query();
    }

    // ---- completions

    @Override
    public void completed(WorkCompletions completions, int index) {
        long workRequest = completions.workRequestId(index);
        int status = completions.status(index);
        if (isDestroyed()) {
            giveBack(workRequest);
        } else if (MessageReceiver.isReceive(workRequest)) {
            if (windows != null && status == WorkCompletionStatus.SUCCESS && completions.hasInvalidatedKey(index)) {
                windows.invalidatedByPeer(completions.invalidatedKey(index));
            }
            receiver.completed(completions, index);
            heard |= status == WorkCompletionStatus.SUCCESS;
            if (status != WorkCompletionStatus.SUCCESS && status != WorkCompletionStatus.WORK_REQUEST_FLUSHED &&
                    failure == null) {
                failure = new RdmaOperationException(status);
                unexpected = true;
            }
        } else {
            sender.completed(workRequest, status);
            acknowledged |= status == WorkCompletionStatus.SUCCESS;
            if (status != WorkCompletionStatus.SUCCESS && status != WorkCompletionStatus.WORK_REQUEST_FLUSHED &&
                    failure == null) {
                failure = new IOException("The connection to " + channel.remoteAddress() + " ended: " +
                        WorkCompletionStatus.describe(status));
            }
        }
        if (status != WorkCompletionStatus.SUCCESS) {
            broken();
        }
    }

    @Override
    public void completionsDone() {
        if (isDestroyed() || aborted) {
            return;
        }
        if (receiver.hasNext() && !channel.isActive()) {
            // A message proves that the peer is there, even if the connection manager's event is yet to come.
            channel.requestEstablished();
        }
        sender.complete();
        if (liveness != null && (heard || acknowledged)) {
            liveness.heard(acknowledged);
        }
        heard = false;
        acknowledged = false;
        if (!isDestroyed()) {
            receiver.read();
        }
        advance();
    }

    private void advance() {
        if (isDestroyed()) {
            return;
        }
        if (isBroken()) {
            disconnect();
            if (sender.isDrained() && receiver.isFlushed()) {
                // With shared receives no flush marks the last message, which has arrived when the connection ends.
                queuePair.drainShared();
                lost();
            } else if (timer == null) {
                // The flushed requests complete at once, if the device works.
                timer = queuePair.schedule(this::lost, FLUSH_MILLIS);
            }
        } else {
            channel.advanceClose();
        }
    }

    // ---- the end

    /** Handles events once the connection is established. */
    void connectionEvent(ConnectionEvent event) {
        switch (event.type()) {
        case ESTABLISHED -> channel.requestEstablished();
        case DISCONNECTED -> gone(null);
        case REJECTED, UNREACHABLE, CONNECT_ERROR -> {
            // A server rejects the connection if it closes before it knows that the connection is established.
            gone(channel.isActive() ? null : new IOException("Connection to " + channel.remoteAddress() +
                    " could not be accepted: " + event.describe()));
        }
        case DEVICE_REMOVAL -> {
            unexpected = true;
            gone(new IOException(queuePair.device() + " was removed"));
        }
        default -> logger.debug("{}: {}", channel, event);
        }
    }

    /** Ends the connection. Messages that have arrived will still be read. */
    private void gone(IOException cause) {
        if (failure == null) {
            failure = cause;
        }
        broken();
        advance();
    }

    /** Fails the connection. The caller may be in the middle of something, so a later task does the rest. */
    void fail(IOException cause) {
        if (!isBroken()) {
            broken();
            unexpected = true;
            failure = failure == null ? cause : failure;
            queuePair.execute(() -> {
                sender.complete();
                gone(cause);
            });
        }
    }

    @Override
    public void failed(Throwable cause) {
        fail(cause instanceof IOException ? (IOException) cause : new IOException(cause));
    }

    @Override
    public void unexpected(Throwable cause) {
        if (isDestroyed()) {
            logger.debug("{}: in the middle of its end", channel, cause);
            return;
        }
        boolean again = aborted;
        aborted = true;
        broken();
        unexpected = true;
        if (failure == null) {
            failure = new IOException("The connection to " + channel.remoteAddress() + " failed: " + cause, cause);
        }
        queuePair.execute(again || state == State.LOST ? channel::abort : this::endAborted);
    }

    private void endAborted() {
        disconnect();
        lost();
    }

    private void broken() {
        if (state == State.OPEN) {
            state = State.BROKEN;
        }
    }

    /** Returns whether the queue pair takes no more work requests. */
    boolean isBroken() {
        return state != State.OPEN;
    }

    /** Returns whether the channel is done with it. */
    boolean isDestroyed() {
        return state.compareTo(State.CLOSED) >= 0;
    }

    /** The reason why the connection failed; {@code null} if it did not, or without a reason. */
    @Override
    public IOException failure() {
        return failure;
    }

    /** The reason for the end of the connection. Without a failure the peer has disconnected. */
    IOException cause() {
        String reset = "Connection reset by peer: " + channel.remoteAddress();
        return failure != null ? failure : channel.isActive() ? new IOException(reset) : new ConnectException(reset);
    }

    /** Tells the channel of the loss, after all messages have arrived, and all requests have come back. */
    private void lost() {
        if (state.compareTo(State.LOST) >= 0) {
            return;
        }
        state = State.LOST;
        if (!aborted) {
            // The rest is not read after an exception, because messages may be missing.
            receiver.readAll();
        }
        if (!isDestroyed()) {
            channel.connectionLost(cause(), unexpected);
        }
    }

    private void disconnect() {
        if (state.compareTo(State.FLUSHING) >= 0) {
            return;
        }
        if (liveness != null) {
            liveness.stop();
        }
        state = State.FLUSHING;
        channel.stopping();
        try {
            if (id != null) {
                id.disconnect();
                return;
            }
        } catch (VerbsException e) {
            logger.debug("{}: disconnecting failed", channel, e);
        }
        try {
            queuePair.queuePair().toError();
        } catch (VerbsException e) {
            logger.debug("{}: the queue pair could not be stopped", channel, e);
        }
    }

    /** Ends the connection and releases everything, because the channel is closed. */
    void close() {
        if (!isDestroyed()) {
            disconnect();
            end();
            if (!settled && queuePair.shared() != null && !channel.isEnding()) {
                // Otherwise a shared receive that a message has begun to use would be lost with the queue pair.
                releaseLater();
            } else {
                release();
            }
        }
    }

    @Override
    public void discard() {
        close();
        channel.connectionDiscarded();
    }

    private void releaseLater() {
        try {
            timer = queuePair.schedule(this::release, SETTLE_MILLIS);
        } catch (Throwable t) {
            release();
            throw t;
        }
    }

    @Override
    public boolean shares(LoopReceiveQueue receives) {
        return queuePair.shared() == receives;
    }

    @Override
    public void lastReceiveReached() {
        settled = true;
        if (isDestroyed()) {
            release();
        }
    }

    @Override
    public void destroy() {
        end();
        release();
    }

    /** Ends telling the channel of anything. */
    private void end() {
        if (!isDestroyed()) {
            state = State.CLOSED;
        }
        if (timer != null) {
            timer.run();
        }
    }

    private void giveBack(long workRequest) {
        if (queuePair.shared() != null && MessageReceiver.isReceive(workRequest)) {
            queuePair.shared().giveBack(workRequest);
        }
    }

    private void release() {
        if (state == State.RELEASED) {
            return;
        }
        state = State.RELEASED;
        if (timer != null) {
            timer.run();
        }
        if (windows != null) {
            windows.deallocate();
        }
        queuePair.close();
        if (id != null) {
            channel.connectionDestroyed(id);
            id.close();
        }
        if (windows != null) {
            windows.release();
        }
        sender.release();
        receiver.release();
        metrics.close();
        if (record != null) {
            record.close(failure);
        }
    }
}
