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

import io.netty.channel.rdma.stream.StreamMachine;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.stream.StreamState;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * The state of a {@link RdmaConnection}, and its changes by events. The connection begins. It ends by a close of the
 * channel, by the peer, or by a failure. Then its resources are released. On the loop of the connection.
 */
final class ConnectionLife {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ConnectionLife.class);

    private static final long TIMEOUT_MILLIS = RdmaConnection.END_TIMEOUT_MILLIS;
    /**
     * Maximum time in which a peer receives none of the bytes that a closed channel has left. Linux gives up TCP
     * connections without an owner after 8 retries, at least 100 s ({@code tcp_orphan_retries}), but they pin less
     * memory.
     */
    private static final long DETACHED_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(60);
    /** Maximum time for all these bytes, even if the peer continues to receive some. */
    private static final long DETACHED_TOTAL_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** States in their order. The package description has the events that lead from one to another. */
    enum State {
        /** The queue pair exists. The private data of the peer is not known yet. */
        CREATED,
        /** The private data of the peer is known. The peer may not be able to receive yet. */
        NEGOTIATED,
        /** The peer can receive. The channel is not active yet. */
        READY,
        /** The channel is active. */
        OPEN,
        /** The channel is closed. The bytes that it has left are sent, and then the end of the stream. */
        CLOSING,
        /** The connection is disconnected. Work requests come back, among them receives with the peer's last bytes. */
        FLUSHING,
        /** All work requests have come back, and the channel was told. The channel has to be closed. */
        LOST,
        /** The channel is closed and the connection disconnected. The next turn destroys it. */
        ABORTING,
        /** All resources are released. */
        DESTROYED
    }

    /** The kind of a failure. */
    private enum Fault {
        /** The peer has ended or reset the connection, or can't be reached. The same happens to sockets. */
        PEER,
        /** An error that sockets do not have, such as a peer that breaks the protocol. */
        OTHER,
        /** An exception in the work for the connection. It is not known what was left undone. */
        UNEXPECTED
    }

    /** Methods of the rest of the connection that the state calls. */
    interface Actions {
        /** Runs the task later, instead of the task that was scheduled before. */
        void schedule(Runnable task, long millis);

        /** Stops the queue pair, if possible by the connection manager, which tells the peer. */
        void disconnect();

        /** Drops the bytes that have arrived, and all later ones. */
        void discardInput();

        /** Returns whether the peer has ended its stream. */
        boolean isEndedByPeer();

        /** Sends all that can be sent. */
        void send();

        /** Returns whether bytes that the closed channel has left are still to be sent. */
        boolean isSendingDetached();

        /** Returns whether more of these bytes are in flight than a channel may leave. */
        boolean isDetachedBeyondLimit();

        /** The clock of the loop. */
        long nanoTime();

        /** Returns whether all work requests that were posted have come back. */
        boolean isFlushed();

        /** Releases everything, and cancels the task that is scheduled. */
        void release();
    }

    private final ConnectionOwner owner;
    private final Actions connection;
    private final StreamMachine stream;
    private final Executor loop;
    private final LivenessOptions liveness;

    /** The state is read a dozen times for each message, mostly when it is OPEN. */
    private State state = State.CREATED;
    /** The last of the first four states that the connection has reached, even if it broke meanwhile. */
    private State reached = State.CREATED;
    private Fault fault = Fault.PEER;
    private IOException failure;
    private IOException loss;
    private long closedNanos;
    private long progressNanos;
    private long progress;

    ConnectionLife(ConnectionOwner owner, Actions connection, StreamMachine stream, Executor loop,
                   LivenessOptions liveness) {
        this.owner = owner;
        this.connection = connection;
        this.stream = stream;
        this.loop = loop;
        this.liveness = liveness;
    }

    State state() {
        return state;
    }

    // ---- the beginning

    /** Notes that the private data of the peer is known. */
    void negotiated() {
        reach(State.NEGOTIATED);
    }

    /** Notes that the peer can receive. */
    void peerReady() {
        reach(State.READY);
    }

    /**
     * Notes that the channel becomes active. It does so even if the connection has broken meanwhile, because bytes of
     * the peer are still to be read.
     *
     * @return whether the channel was not active before.
     */
    boolean open() {
        boolean first = reached == State.READY && !isClosed();
        if (first) {
            reach(State.OPEN);
        }
        return first;
    }

    private void reach(State next) {
        if (reached.compareTo(next) < 0) {
            reached = next;
            if (state.compareTo(next) < 0) {
                state = next;
            }
        }
    }

    boolean isNegotiated() {
        return reached != State.CREATED;
    }

    /** Returns whether the peer was able to receive. It may be gone by now. */
    boolean isReady() {
        return reached == State.OPEN || reached == State.READY;
    }

    /** Returns whether the channel is, or was, active. */
    boolean isOpened() {
        return reached == State.OPEN;
    }

    boolean isOpen() {
        return state == State.OPEN;
    }

    // ---- the end

    /** Returns whether the channel is closed. */
    boolean isClosed() {
        return state != State.OPEN && (state == State.CLOSING || state == State.ABORTING || state == State.DESTROYED);
    }

    /** Returns whether the queue pair takes no more work requests, or is about to. */
    boolean isBroken() {
        return state != State.OPEN && state.compareTo(State.FLUSHING) >= 0;
    }

    boolean isLost() {
        return state == State.LOST || state == State.DESTROYED;
    }

    boolean isDestroyed() {
        return state == State.DESTROYED;
    }

    /**
     * The reason why the connection has ended, if neither this channel nor the peer has closed it; else {@code null}.
     */
    IOException loss() {
        return loss == null ? failure : loss;
    }

    /** The reason why the connection broke, or {@code null}. */
    IOException failure() {
        return failure;
    }

    /**
     * The reason why nothing can be sent any more. As with a socket, the error is another one after the application was
     * told of the end of the peer's bytes.
     */
    IOException writeFailure() {
        return owner.isInputShutdown() ? new IOException("Broken pipe: " + owner.remote(), failure) : cause();
    }

    private IOException cause() {
        return failure == null ? resetByPeer(null) : failure;
    }

    private IOException resetByPeer(String detail) {
        return new IOException("Connection reset by peer: " + owner.remote() + (detail == null ? "" : " (" +
                detail + ')'));
    }

    /** Handles the failure of a work request. In the middle of a batch of completions. */
    void broken(int status) {
        if (failure == null && status != WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            failure = resetByPeer(WorkCompletionStatus.describe(status));
        }
        disconnect();
    }

    /** Disconnects, because the queue pair takes no more work requests. */
    void broken(IOException cause) {
        failed(cause, Fault.OTHER);
        disconnect();
    }

    /** Ends the connection, which is over. Bytes that have arrived are still to be read. */
    void gone(IOException cause) {
        failed(cause, Fault.PEER);
        disconnect();
        advance();
        if (state == State.FLUSHING) {
            // The flushes come at once, if the device works.
            connection.schedule(this::lost, TIMEOUT_MILLIS);
        }
    }

    /** Fails the connection. The caller may be at any point of its work, so the consequences come later. */
    void fail(IOException cause) {
        failed(cause, Fault.OTHER);
        disconnectAndContinueLater();
    }

    /** Fails the connection because the peer does not answer; the consequences come later. */
    void timedOut(IOException cause) {
        failed(cause, Fault.PEER);
        disconnectAndContinueLater();
    }

    private void disconnectAndContinueLater() {
        disconnect();
        if (state == State.FLUSHING || state == State.ABORTING) {
            loop.execute(() -> gone(null));
        }
    }

    /** The first failure counts. */
    private void failed(IOException cause, Fault newFault) {
        if (failure == null && cause != null) {
            failure = cause;
            fault = newFault;
        }
    }

    /**
     * Ends the connection, because the work for it has thrown an exception. It is not known what was left undone. So
     * the end waits for nothing, and no more bytes are read, because bytes before them may be missing. The caller may
     * be at any point of its work.
     */
    void abort(Throwable cause) {
        if (state == State.DESTROYED) {
            logger.debug("{}: in the middle of its end", owner, cause);
            return;
        }
        boolean again = fault == Fault.UNEXPECTED;
        failed(new IOException("The connection to " + owner.remote() + " failed: " + cause, cause), Fault.UNEXPECTED);
        fault = Fault.UNEXPECTED;
        disconnect();
        loop.execute(again ? this::kill : this::endAborted);
        if (!again) {
            connection.discardInput();
        }
    }

    private void endAborted() {
        if (state == State.LOST) {
            kill();
        } else {
            advance();
            lost();
        }
    }

    /** Destroys the connection, because its end has failed, too. */
    private void kill() {
        if (state != State.DESTROYED) {
            owner.abort(cause());
        }
        destroy();
    }

    /** Handles the close of the channel. */
    void close(boolean reset) {
        if (!isReady() || isBroken()) {
            destroy();
            return;
        }
        state = State.CLOSING;
        if (reset) {
            disconnect();
            destroy();
            return;
        }
        closedNanos = connection.nanoTime();
        progressNanos = closedNanos;
        progress = stream.sendQueue().doneUntil();
        connection.schedule(this::closeOverdue, TIMEOUT_MILLIS);
        advance();
    }

    /** Ends the connection, unless the peer continues to receive bytes, and not too slowly. */
    private void closeOverdue() {
        long now = connection.nanoTime();
        boolean progressed = stream.sendQueue().doneUntil() != progress;
        if (progressed) {
            progress = stream.sendQueue().doneUntil();
            progressNanos = now;
        }
        if (!progressed && (!connection.isSendingDetached() || now - progressNanos >= detachedTimeoutNanos()) ||
                // A device sends the bytes in flight in less time.
                connection.isDetachedBeyondLimit() || now - closedNanos >= DETACHED_TOTAL_NANOS) {
            disconnect();
            destroy();
        } else {
            connection.schedule(this::closeOverdue, TIMEOUT_MILLIS);
        }
    }

    /** As with TCP, the user timeout counts also for bytes that a closed channel has left. */
    private long detachedTimeoutNanos() {
        long userTimeoutMillis = liveness.userTimeoutMillis();
        return userTimeoutMillis > 0 ? TimeUnit.MILLISECONDS.toNanos(userTimeoutMillis) : DETACHED_TIMEOUT_NANOS;
    }

    /** Does the work of the state at the end of a turn. */
    void advance() {
        switch (state) {
        case CLOSING:
            advanceClose();
            break;
        case FLUSHING:
            if (connection.isFlushed()) {
                lost();
            }
            break;
        case ABORTING:
            destroy();
            break;
        default:
        }
    }

    private void advanceClose() {
        connection.discardInput();
        connection.send();
        if (state == State.CLOSING && !isStreamEnded()) {
            if (connection.isSendingDetached()) {
                return;
            }
            stream.disconnect();
            connection.send();
        }
        // The connection need not wait for a peer that has everything, also the end of the stream.
        if (state == State.CLOSING && (!stream.isDrained() || stream.isEndedByPeer())) {
            return;
        }
        disconnect();
        destroy();
    }

    /** Returns whether this end or the peer's has ended the stream in both directions. */
    private boolean isStreamEnded() {
        return stream.state() == StreamState.DISCONNECTED;
    }

    /** Tells the channel of the loss, when nothing more can arrive. */
    private void lost() {
        if (state != State.FLUSHING) {
            return;
        }
        state = State.LOST;
        boolean failed = fault != Fault.PEER;
        if (!isOpened()) {
            owner.notEstablished(cause(), failed && !(failure instanceof StreamProtocolException));
        } else {
            // The peer's end is orderly, even if a last credit did not reach the peer.
            boolean ended = fault != Fault.UNEXPECTED && connection.isEndedByPeer() &&
                    (failure == null || isStreamEnded());
            loss = ended ? null : cause();
            owner.connectionLost(cause(), ended, failed);
        }
    }

    /** Brings the queue pair to the error state, unless it is there. */
    private void disconnect() {
        if (isBroken()) {
            return;
        }
        state = state == State.CLOSING ? State.ABORTING : State.FLUSHING;
        connection.disconnect();
    }

    /** Releases everything, at once. */
    void destroy() {
        if (state == State.DESTROYED) {
            return;
        }
        state = State.DESTROYED;
        connection.release();
    }
}
