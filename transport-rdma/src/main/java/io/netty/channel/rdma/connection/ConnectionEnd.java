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

import io.netty.channel.rdma.loop.CurrentLoop;
import io.netty.channel.rdma.stream.StreamConnection;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.stream.StreamState;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * How a {@link RdmaConnection} comes to its end: by a close of the channel, by the peer, or because something broke;
 * and when its resources may be released. On the loop of the connection.
 */
final class ConnectionEnd {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ConnectionEnd.class);

    private static final long TIMEOUT_MILLIS = RdmaConnection.END_TIMEOUT_MILLIS;
    /**
     * How long a peer may take none of the bytes that a closed channel has left. Linux gives up connections without an
     * owner after 8 retries, which is at least 100 s ({@code tcp_orphan_retries}); but theirs pin less memory.
     */
    private static final long LEFT_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final ConnectionOwner owner;
    private final RdmaConnection connection;
    private final CurrentLoop loop;
    private final ConnectionId id;
    private final QueuePair queuePair;
    private final StreamConnection stream;
    private final LivenessOptions liveness;

    /** The channel is closed. */
    private boolean closed;
    private boolean abort;
    /** The queue pair is in the error state, or will be. */
    private boolean broken;
    private boolean disconnected;
    private boolean lost;
    private boolean destroyed;
    private IOException failure;
    /** It is none that a socket may have. */
    private boolean failed;
    private boolean aborted;
    private CurrentLoop.Timer timer;
    private long progressNanos;
    private long progress;

    ConnectionEnd(ConnectionOwner owner, RdmaConnection connection, ConnectionId id,
                  ConnectionResources resources) {
        this.owner = owner;
        this.connection = connection;
        this.id = id;
        loop = connection.loop();
        queuePair = resources.queuePair;
        stream = resources.stream;
        liveness = resources.options.liveness;
    }

    boolean isClosed() {
        return closed;
    }

    boolean isBroken() {
        return broken;
    }

    boolean isLost() {
        return lost;
    }

    boolean isDestroyed() {
        return destroyed;
    }

    /** Why it broke, or {@code null}. */
    IOException failure() {
        return failure;
    }

    /**
     * Why nothing can be sent any more. As with a socket, that is another error once the application knows that the
     * peer's bytes have ended.
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

    /** A work request failed. */
    void broken(int status) {
        broken = true;
        if (failure == null && status != WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            failure = resetByPeer(WorkCompletionStatus.describe(status));
        }
    }

    /** The queue pair takes no more work requests. */
    void broken(VerbsException cause) {
        broken = true;
        if (failure == null) {
            failure = cause;
            failed = true;
        }
    }

    /** The connection is over. What has arrived is still to be read. */
    void gone(IOException cause) {
        if (failure == null) {
            failure = cause;
        }
        disconnect();
        connection.advance();
        if (!destroyed && !lost) {
            // The flushes come at once, if the device works.
            schedule(this::lost, TIMEOUT_MILLIS);
        }
    }

    /** As above, but in the middle of anything, so that what follows from it comes later. */
    void fail(IOException cause) {
        failed |= failure == null;
        timedOut(cause);
    }

    /** As above, of a peer that does not answer. */
    void timedOut(IOException cause) {
        if (failure == null) {
            failure = cause;
        }
        disconnect();
        if (!lost && !destroyed) {
            loop.execute(() -> gone(null));
        }
    }

    /**
     * Something was done for the connection and has thrown. Nobody knows what was left undone, so nothing is waited
     * for, and no more bytes are read: others that came before may be missing. In the middle of anything.
     */
    void abort(Throwable cause) {
        if (destroyed) {
            logger.debug("{}: in the middle of its end", owner, cause);
            return;
        }
        boolean again = aborted;
        aborted = true;
        broken = true;
        if (failure == null) {
            failure = new IOException("The connection to " + owner.remote() + " failed: " + cause, cause);
            failed = true;
        }
        loop.execute(again ? this::kill : this::endAborted);
        if (!again) {
            connection.inbound().discard();
        }
    }

    private void endAborted() {
        if (lost) {
            kill();
        } else if (!destroyed) {
            disconnect();
            lost();
        }
    }

    /** That has failed, too. */
    private void kill() {
        if (!destroyed) {
            owner.abort(cause());
        }
        destroy();
    }

    /** The channel is closed. */
    void close(boolean reset) {
        closed = true;
        abort |= reset;
        if (!connection.isReady() || broken) {
            destroy();
            return;
        }
        progressNanos = System.nanoTime();
        progress = connection.outbound().completedUntil();
        schedule(this::closeOverdue, TIMEOUT_MILLIS);
        advance();
    }

    /** A peer that goes on taking bytes may take all of them, however slowly. */
    private void closeOverdue() {
        RdmaOutbound outbound = connection.outbound();
        if (outbound.completedUntil() != progress) {
            progress = outbound.completedUntil();
            progressNanos = System.nanoTime();
        } else if (!outbound.isSendingLeft() || System.nanoTime() - progressNanos >= leftTimeoutNanos()) {
            disconnect();
            destroy();
            return;
        }
        schedule(this::closeOverdue, TIMEOUT_MILLIS);
    }

    /** As with TCP, the option is for what a closed channel has left as well. */
    private long leftTimeoutNanos() {
        long userTimeoutMillis = liveness.userTimeoutMillis();
        return userTimeoutMillis > 0 ? TimeUnit.MILLISECONDS.toNanos(userTimeoutMillis) : LEFT_TIMEOUT_NANOS;
    }

    /** Does what follows from the state, once the channel is closed or the queue pair broken. */
    void advance() {
        if (closed) {
            advanceClose();
        } else {
            disconnect();
            if (connection.isFlushed()) {
                lost();
            }
        }
    }

    private void advanceClose() {
        if (!broken && !abort) {
            connection.inbound().discard();
            connection.sender().pumpAll();
            if (!broken && connection.outbound().isSendingLeft() && stream.state() != StreamState.DISCONNECTED) {
                return;
            }
            if (stream.state() != StreamState.DISCONNECTED) {
                stream.disconnect();
            }
            connection.sender().pumpAll();
            if (!broken && (!stream.isDrained() || stream.isEndedByPeer())) {
                return;
            }
        }
        disconnect();
        destroy();
    }

    /** All that could arrive has arrived. */
    private void lost() {
        if (lost || destroyed) {
            return;
        }
        lost = true;
        if (closed) {
            advanceClose();
        } else if (!connection.isStarted()) {
            owner.notEstablished(cause(), failed && !(failure instanceof StreamProtocolException));
        } else {
            // The peer's end is an orderly one, even if a last credit did not reach it.
            owner.connectionLost(cause(), !aborted && (connection.isClosedByPeer() ||
                    failure == null && connection.inbound().isEndedByPeer()), failed);
        }
    }

    /** The queue pair goes to the error state. */
    private void disconnect() {
        broken = true;
        if (disconnected) {
            return;
        }
        disconnected = true;
        try {
            id.disconnect();
        } catch (VerbsException e) {
            logger.debug("{}: disconnecting failed", owner, e);
            try {
                queuePair.toError();
            } catch (VerbsException e2) {
                logger.debug("{}: the queue pair could not be stopped", owner, e2);
            }
        }
    }

    private void schedule(Runnable task, long millis) {
        try {
            if (timer != null) {
                timer.cancel();
            }
            timer = loop.schedule(task, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The loop has ended: its handler destroys what is left.
            logger.debug("{}: no timer", owner, e);
        }
    }

    /** Gives everything back, at once. */
    void destroy() {
        if (destroyed) {
            return;
        }
        destroyed = true;
        broken = true;
        if (timer != null) {
            timer.cancel();
        }
        connection.release();
    }
}
