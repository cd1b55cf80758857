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

import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.rdma.connection.ConnectionResources;
import io.netty.channel.rdma.connection.RdmaConnection;
import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.channel.rdma.loop.LoopEvents;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.move.ConnectionIdMigration;
import io.netty.channel.rdma.metrics.RdmaConnectMetrics;
import io.netty.channel.rdma.monitor.ConnectCounters;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionEventType;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;

/**
 * Makes one incoming connection. The request waits in the backlog of the listener until its channel is registered. Then
 * its id moves to the channel's event loop, where it gets its queue pair and is accepted. The registration is done when
 * the peer has answered.
 *
 * <p>If the listener does not read, the request is accepted in advance ({@link #hold()}), so that the peer is connected
 * and may send, as with a socket. Its queue pair then has a completion queue of its own, because the loop that will
 * handle its completions is not known yet. That queue is not polled before.
 *
 * <p>On the loop of the channel, except where said.
 */
final class RdmaAcceptor implements LoopEvents.Listener {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaAcceptor.class);

    private final AbstractRdmaSocketChannel channel;
    private final AbstractRdmaServerChannel<?> listener;
    /** The private data of the request. */
    private final byte[] peer;
    /** {@code null} after it was closed, or has become the connection's. */
    private ConnectionId id;
    /** The loop that reads the events of the id: at first that of the listener. */
    private volatile LoopHandler home;
    /** The provider that the request came by. */
    final VerbsApi verbs;
    private RdmaConnection connection;
    // Events that arrive before the connection exists, on the loop that reads them.
    private volatile IOException lost;
    private volatile boolean answered;
    private volatile boolean disconnected;
    /** The resources of a connection that was accepted in advance. */
    private volatile ConnectionResources held;
    private boolean migrating;
    private Future<?> timer;
    private ChannelPromise promise;

    RdmaAcceptor(AbstractRdmaSocketChannel channel, AbstractRdmaServerChannel<?> listener, ConnectionEvent request) {
        this.channel = channel;
        this.listener = listener;
        id = request.id();
        peer = request.privateData();
        verbs = id.verbs();
    }

    /** Makes this loop read the events of the id. On that loop. */
    void attach(LoopHandler handler) {
        home = handler;
        handler.eventsIfAny(verbs).listen(id, this);
    }

    /** Moves the id to another loop. On the loop that reads its events. */
    void leave(EventChannel events) throws Exception {
        home.forget(id);
        id.migrate(events);
    }

    /** Handles the events that arrive before there is a connection. */
    @Override
    public void connectionEvent(ConnectionEvent event) {
        if (event.type() == ConnectionEventType.ESTABLISHED) {
            answered = true;
        } else if (event.type() == ConnectionEventType.DISCONNECTED && held != null) {
            // Bytes that the peer sent before are still to be read.
            disconnected = true;
        } else {
            lost = new IOException("the connection request of " + channel.remote + " was withdrawn: " +
                    event.describe());
            channel.requestWithdrawn();
        }
    }

    @Override
    public void unexpected(Throwable cause) {
        lost = cause instanceof IOException ? (IOException) cause : new IOException(cause);
    }

    /** Closes the request. The channel is not registered with another loop yet; a registration will fail. */
    @Override
    public void loopEnded(LoopHandler handler, ConnectionId ended) {
        lost = new IOException("the event loop of the listener has ended");
        closeAll(lost);
    }

    /** Accepts the request before the channel is registered. On the loop of the listener. */
    void hold() {
        ConnectionResources resources = null;
        try {
            channel.config().setReceiveBufferSize(listener.config().getReceiveBufferSize());
            resources = channel.newConnectionResources(id, null);
            ConnectionParameters parameters = resources.parameters();
            resources.establish(peer);
            id.accept(parameters);
            held = resources;
            int millis = channel.confirmationMillis();
            if (millis > 0) {
                listener.loop().schedule(this::holdOverdue, millis, TimeUnit.MILLISECONDS);
            }
        } catch (Throwable t) {
            // The channel continues to wait as a request.
            logger.debug("{}: could not be accepted in advance", channel, t);
            if (resources != null) {
                held = null;
                resources.closeQueuePair();
                resources.release(null);
            }
        }
    }

    /** Withdraws a channel that was accepted in advance and got no answer in time. On the loop of the listener. */
    private void holdOverdue() {
        if (!answered && !disconnected) {
            listener.withdraw(channel);
        }
    }

    /** Accepts the request, and completes the promise when the peer has answered. */
    void start(ChannelPromise registered) {
        promise = registered;
        ConnectionId request;
        synchronized (this) {
            request = id;
        }
        if (request == null) {
            vanished(lost);
            return;
        }
        try {
            EventChannel events = channel.handler().events(verbs).channel;
            if (home == channel.handler()) {
                accept();
                return;
            }
            // Only the thread that reads the events of the listener may move the id away. The next event may arrive
            // here before the report of the move.
            channel.handler().events(verbs).listen(request, this);
            migrating = true;
            ConnectionIdMigration.migrate(this::leave, home.loop(), events, channel.eventLoop(), this::migrated);
        } catch (Throwable t) {
            migrating = false;
            channel.handler().forget(request);
            fail(t);
        }
    }

    /**
     * Continues when the id has moved, or could not. If the loop of the channel has ended, this runs on the loop that
     * the id has left.
     */
    private void migrated(Throwable failure) {
        migrating = false;
        if (failure != null) {
            fail(failure);
        } else {
            home = channel.handler();
            accept();
        }
    }

    private void accept() {
        try {
            if (!channel.isOpen()) {
                throw new ClosedChannelException();
            }
            if (lost != null) {
                vanished(lost);
                return;
            }
            scheduleTimeout();
            if (held != null) {
                adoptHeld();
                return;
            }
            connection = channel.newConnection(new LoopBinding(home), id, this);
            ConnectionParameters parameters = connection.parameters();
            connection.establish(peer, false);
            id.accept(parameters);
            channel.connecting().queuePairOptions().connected(id.queuePair());
            id = null;
        } catch (Throwable t) {
            fail(t);
        }
    }

    private void scheduleTimeout() {
        int millis = channel.confirmationMillis();
        if (millis > 0) {
            timer = channel.eventLoop().schedule(() -> vanished(new ConnectTimeoutException(
                    "the peer did not complete its connection within " + millis + " ms: " + channel.remote)),
                    millis, TimeUnit.MILLISECONDS);
        }
    }

    private void adoptHeld() throws Exception {
        ConnectionResources resources = held;
        held = null;
        connection = channel.newConnection(new LoopBinding(home), id, this, resources);
        if (!disconnected) {
            channel.connecting().queuePairOptions().connected(id.queuePair());
        }
        id = null;
        connection.established(false);
        if (answered) {
            connection.answered();
        }
        if (disconnected) {
            connection.disconnected();
        }
    }

    /**
     * Makes the channel active, because the peer has answered. The channel is not active before, so that a handler can
     * send in {@code channelActive}.
     */
    void established() {
        ChannelPromise registered = endRegistration();
        if (registered != null) {
            channel.accepted(connection);
            registered.setSuccess();
        }
    }

    private ChannelPromise endRegistration() {
        ChannelPromise registered = promise;
        promise = null;
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
        return registered;
    }

    /**
     * Closes the channel, because the peer has gone before its connection was made. The channel is registered, never
     * active, and closed. Its registration does not fail, because {@code ServerBootstrap} would warn of that, and peers
     * could fill the log.
     */
    void vanished(Throwable cause) {
        release(cause);
        ConnectCounters.vanished();
        closeQuietly(endRegistration(), cause);
    }

    private void closeQuietly(ChannelPromise registered, Throwable cause) {
        logger.debug("{}: not established", channel, cause);
        if (registered != null) {
            registered.setSuccess();
            channel.unsafe().close(channel.unsafe().voidPromise());
        }
    }

    /**
     * Closes the channel, because the connection can't be made for a reason on this side. Peers can cause that at any
     * rate, for example when there is no more registered memory. So the registration does not fail, because {@code
     * ServerBootstrap} would warn each time; the listener warns once a minute. There is no warning if the channel is
     * closed, for example with its event loop, or if the request is withdrawn: the kernel makes no queue pair for such
     * a request ("invalid argument"), and does not say why.
     */
    void fail(Throwable cause) {
        boolean withdrawn = release(cause);
        ChannelPromise registered = endRegistration();
        if (registered == null) {
            return;
        }
        if (!channel.eventLoop().inEventLoop()) {
            registered.tryFailure(cause);
            return;
        }
        if (!withdrawn && channel.isOpen()) {
            listener.warn(channel.remote, cause.toString());
        }
        closeQuietly(registered, cause);
    }

    /** Closes everything. Returns whether the peer could not be told, because its request is withdrawn. */
    private boolean release(Throwable cause) {
        ConnectionId released = id;
        boolean withdrawn = closeAll(cause);
        if (released != null) {
            if (channel.handler() != null) {
                channel.handler().forget(released);
            }
            LoopHandler handler = home;
            handler.execute(() -> handler.forget(released));
        }
        return withdrawn;
    }

    private synchronized boolean closeAll(Throwable cause) {
        boolean withdrawn = false;
        if (id != null && held == null) {
            withdrawn = !AbstractRdmaConnectedChannel.reject(id, RdmaConnectMetrics.Rejection.SERVER,
                    "the server can't accept: " + cause);
        }
        if (connection != null) {
            connection.destroy();
        } else if (held != null) {
            held.closeQueuePair();
            id.close();
            held.release(null);
            held = null;
        }
        id = null;
        return withdrawn;
    }

    /**
     * Ends the acceptance, because the channel is closed. On any thread if the channel was never registered: {@code
     * ServerBootstrap} closes a channel that it can't configure or register. Then the peer gets the reason that the
     * server logs.
     */
    void close() {
        if (!migrating) {
            Throwable misused = channel.misused;
            fail(misused == null ? new ClosedChannelException() : misused);
        }
    }
}
