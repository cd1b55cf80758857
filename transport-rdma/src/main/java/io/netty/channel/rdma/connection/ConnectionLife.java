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
 * The state of a {@link RdmaConnection}, and what an event makes of it: how the connection begins; how it ends, by a
 * close of the channel, by the peer, or because something broke; and when its resources may be released. On the loop of
 * the connection.
 */
final class ConnectionLife {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ConnectionLife.class);

    private static final long TIMEOUT_MILLIS = RdmaConnection.END_TIMEOUT_MILLIS;
    /**
     * Maximum time in which a peer receives none of the bytes that a closed channel has left. Linux gives up
     * connections without an owner after 8 retries, which is at least 100 s ({@code tcp_orphan_retries}); but theirs
     * pin less memory.
     */
    private static final long DETACHED_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(60);
    /** The time that a peer may need for all these bytes, also if it goes on to take some. */
    private static final long DETACHED_TOTAL_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** States in their order. What leads from one to another is in the package description. */
    enum State {
        /** The queue pair exists. What the peer says of itself is not known yet. */
        CREATED,
        /** The private data of the peer is known. Whether the peer can receive is not. */
        NEGOTIATED,
        /** The peer can receive. The channel is not active yet. */
        READY,
        /** The channel is active. */
        OPEN,
        /** The channel is closed. What it has left is sent, and then the end of the stream. */
        CLOSING,
        /** Disconnected. Work requests come back, among them receives with the peer's last bytes. */
        FLUSHING,
        /** The work requests have all come back, and the channel was told. It has to be closed. */
        LOST,
        /** The channel is closed and the connection disconnected. The next turn destroys it. */
        ABORTING,
        /** Everything is given back. */
        DESTROYED
    }

    /** Why a connection fails. */
    private enum Fault {
        /** The peer has ended or reset it, or can't be reached: what happens to sockets. */
        PEER,
        /** An error that no socket has, such as a peer that breaks the protocol. */
        OTHER,
        /** An exception while something was done for the connection. Nobody knows what was left undone. */
        UNEXPECTED
    }

    /** Calls of the state to the rest of the connection. */
    interface Actions {
        /** Has the task run later, instead of the one that was scheduled before. */
        void schedule(Runnable task, long millis);

        /** Stops the queue pair, by the connection manager if it can, which tells the peer. */
        void disconnect();

        /** Drops what has arrived, and what will. */
        void discardInput();

        /** Returns whether the peer has said that it sends no more. */
        boolean isEndedByPeer();

        /** Sends what can be sent. */
        void send();

        /** Returns whether bytes that the closed channel has left are still to be sent. */
        boolean isSendingDetached();

        /** Returns whether more of that is in flight than a channel may leave. */
        boolean isDetachedBeyondLimit();

        /** The clock of the loop. */
        long nanoTime();

        /** Returns whether all work requests that were posted have come back. */
        boolean isFlushed();

        /** Gives everything back. The task that is scheduled, if any, is not to run. */
        void release();
    }

    private final ConnectionOwner owner;
    private final Actions connection;
    private final StreamMachine stream;
    private final Executor loop;
    private final LivenessOptions liveness;

    /** Each message asks for it a dozen times, mostly in state OPEN. */
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

    /** The peer can receive. */
    void peerReady() {
        reach(State.READY);
    }

    /**
     * The channel becomes active, even if the connection has broken meanwhile: what the peer has sent is to be read.
     *
     * @return whether it has not been before.
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

    /** Returns whether the peer is known to be able to receive; it may be gone by now. */
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
     * The reason why nothing can be sent any more. It is another error once the application knows that the peer's bytes
     * have ended, as with a socket.
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

    /** A work request failed. In the middle of a batch of completions. */
    void broken(int status) {
        if (failure == null && status != WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            failure = resetByPeer(WorkCompletionStatus.describe(status));
        }
        disconnect();
    }

    /** The queue pair takes no more work requests. */
    void broken(IOException cause) {
        failed(cause, Fault.OTHER);
        disconnect();
    }

    /** The connection is over. What has arrived is still to be read. */
    void gone(IOException cause) {
        failed(cause, Fault.PEER);
        disconnect();
        advance();
        if (state == State.FLUSHING) {
            // The flushes come at once, if the device works.
            connection.schedule(this::lost, TIMEOUT_MILLIS);
        }
    }

    /** Fails the connection in the middle of anything, so that the consequences come later. */
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
     * Ends the connection, since something that was done for it has thrown. Nobody knows what was left undone, so
     * nothing is waited for, and no more bytes are read: others that came before may be missing. In the middle of
     * anything.
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

    /** Aborts the connection, because its end has failed, too. */
    private void kill() {
        if (state != State.DESTROYED) {
            owner.abort(cause());
        }
        destroy();
    }

    /** The channel is closed. */
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

    /** A peer that goes on taking bytes may take all of them, if not too slowly. */
    private void closeOverdue() {
        long now = connection.nanoTime();
        boolean progressed = stream.sendQueue().doneUntil() != progress;
        if (progressed) {
            progress = stream.sendQueue().doneUntil();
            progressNanos = now;
        }
        if (!progressed && (!connection.isSendingDetached() || now - progressNanos >= detachedTimeoutNanos()) ||
                // A device sends what is in flight in less time.
                connection.isDetachedBeyondLimit() || now - closedNanos >= DETACHED_TOTAL_NANOS) {
            disconnect();
            destroy();
        } else {
            connection.schedule(this::closeOverdue, TIMEOUT_MILLIS);
        }
    }

    /** The option counts for bytes that a closed channel has left as well, as with TCP. */
    private long detachedTimeoutNanos() {
        long userTimeoutMillis = liveness.userTimeoutMillis();
        return userTimeoutMillis > 0 ? TimeUnit.MILLISECONDS.toNanos(userTimeoutMillis) : DETACHED_TIMEOUT_NANOS;
    }

    /** Does what follows from the state, at the end of a turn. */
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
        // The peer need not be waited for once it has everything, the end of the stream too.
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

    /** Tells the channel of the loss, when all that could arrive has arrived. */
    private void lost() {
        if (state != State.FLUSHING) {
            return;
        }
        state = State.LOST;
        boolean failed = fault != Fault.PEER;
        if (!isOpened()) {
            owner.notEstablished(cause(), failed && !(failure instanceof StreamProtocolException));
        } else {
            // The peer's end is an orderly one, even if a last credit did not reach it.
            boolean ended = fault != Fault.UNEXPECTED && connection.isEndedByPeer() &&
                    (failure == null || isStreamEnded());
            loss = ended ? null : cause();
            owner.connectionLost(cause(), ended, failed);
        }
    }

    /** The queue pair goes to the error state, unless it is there. */
    private void disconnect() {
        if (isBroken()) {
            return;
        }
        state = state == State.CLOSING ? State.ABORTING : State.FLUSHING;
        connection.disconnect();
    }

    /** Gives everything back, at once. */
    void destroy() {
        if (state == State.DESTROYED) {
            return;
        }
        state = State.DESTROYED;
        connection.release();
    }
}
