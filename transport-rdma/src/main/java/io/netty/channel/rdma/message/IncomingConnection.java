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

import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.nio.channels.ClosedChannelException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * The connection request that a {@link RdmaMessageChannel} was made for. The request moves to the loop of the channel,
 * whose pipeline decides about it. On the loop of the channel, unless a comment says otherwise.
 */
final class IncomingConnection {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(IncomingConnection.class);

    private enum State {
        /** The channel is not registered yet. */
        WAITING,
        /** The request moves from an event channel of the application to the loop. */
        MIGRATING,
        /** The pipeline knows of it. */
        ANNOUNCED,
        /** Accepted or rejected. */
        ANSWERED
    }

    private final RdmaMessageChannel channel;
    private final ConnectionEvent request;
    /** The executor of a request that the application gave, else {@code null}. */
    private final Executor reader;
    private volatile State state = State.WAITING;
    /** The peer has withdrawn the request, which is possible in any state. */
    private volatile boolean withdrawn;
    /** The acceptance failed on this side, not because of the peer or the network. */
    private boolean failedHere;
    /** The promise of the acceptance, until the connection is established. */
    private ChannelPromise promise;
    private Future<?> timer;

    IncomingConnection(RdmaMessageChannel channel, ConnectionEvent request, Executor reader) {
        this.channel = channel;
        this.request = request;
        this.reader = reader;
    }

    boolean isBegun() {
        return state != State.WAITING;
    }

    /** The channel is registered. */
    void begin() {
        if (isBegun() || !channel.isOpen()) {
            return;
        }
        if (reader == null) {
            try {
                announce();
            } catch (Throwable t) {
                // Without a close the peer gets no answer.
                channel.pipeline().fireExceptionCaught(t);
                channel.close();
            }
            return;
        }
        state = State.MIGRATING;
        try {
            channel.moveRequest(request.id(), reader);
        } catch (Throwable t) {
            arrived(request.id(), t);
        }
    }

    /** Goes on after the id of the request has moved, or has failed to. On another thread if the loop has ended. */
    void arrived(ConnectionId id, Throwable failure) {
        Throwable cause = failure;
        if (cause == null && channel.isOpen()) {
            try {
                channel.requestArrived(id);
                announce();
                return;
            } catch (Throwable t) {
                cause = t;
            }
        }
        id.close();
        if (cause == null || !channel.eventLoop().inEventLoop()) {
            logger.debug("{}: the request is lost", channel, cause);
        } else {
            channel.pipeline().fireExceptionCaught(cause);
        }
        channel.close();
    }

    private void announce() {
        state = State.ANNOUNCED;
        if (withdrawn) {
            channel.close();
        } else {
            channel.pipeline().fireUserEventTriggered(new RdmaConnectionRequest(channel, request.privateData()));
        }
    }

    /** Handles the events that arrive before there is a connection. On the loop of the listener at first. */
    void connectionEvent(ConnectionEvent event) {
        logger.debug("{}: the request was withdrawn: {}", channel, event);
        withdrawn = true;
        if (state.compareTo(State.ANNOUNCED) >= 0) {
            channel.close();
        } else {
            channel.withdrawn();
        }
    }

    /** The application has decided. */
    void answer(boolean accept, byte[] data, ChannelPromise answer) {
        if (state == State.ANSWERED) {
            answer.setFailure(new IllegalStateException("the request is answered already"));
        } else if (channel.requestedId() == null || !channel.isOpen()) {
            answer.setFailure(new ClosedChannelException());
        } else if (accept) {
            state = State.ANSWERED;
            accept(data, answer);
        } else {
            state = State.ANSWERED;
            RdmaMessageChannel.refuse(channel.requestedId(), data);
            channel.close(answer);
        }
    }

    private void accept(byte[] data, ChannelPromise answer) {
        promise = answer;
        ConnectionId id = channel.requestedId();
        MessageConnection connection = null;
        try {
            connection = new MessageConnection(channel, id);
            id.accept(connection.parameters(data, request));
            channel.accepting(connection);
            channel.config.queuePair.connected(id.queuePair());
            connection.permit();
            int millis = channel.confirmation();
            if (millis > 0) {
                timer = channel.eventLoop().schedule(() -> {
                    failed(new ConnectTimeoutException("the peer did not complete its connection within " + millis +
                            " ms: " + channel.remoteAddress()), false);
                    channel.close();
                }, millis, TimeUnit.MILLISECONDS);
            }
        } catch (Throwable t) {
            failed(t, RdmaMessageChannel.refuse(id, connection, "the server can't accept: " + t));
            channel.close();
        }
    }

    /** The peer has answered. */
    void established() {
        ChannelPromise answer = endAnswer();
        if (answer != null) {
            channel.established(answer, false);
        }
    }

    /**
     * Fails the acceptance with the reason, if the connection was lost before it was established.
     *
     * @param here whether this side failed, not the peer or the network.
     */
    void failed(Throwable cause, boolean here) {
        ChannelPromise answer = endAnswer();
        if (answer != null) {
            failedHere = here;
            answer.tryFailure(cause);
        }
    }

    boolean isFailedHere() {
        return failedHere;
    }

    private ChannelPromise endAnswer() {
        ChannelPromise answer = promise;
        promise = null;
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
        return answer;
    }

    /** Releases the request of a closed channel. On any thread if the channel was never registered. */
    void close() {
        if (reader != null && !isBegun()) {
            request.id().close();
        }
        failed(new ClosedChannelException(), false);
    }
}
