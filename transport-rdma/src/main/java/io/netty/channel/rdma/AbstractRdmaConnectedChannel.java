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

import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.rdma.connection.Bind;
import io.netty.channel.rdma.connection.OutgoingConnection;
import io.netty.channel.rdma.connection.QueuePairOptions;
import io.netty.channel.rdma.connection.Rejection;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.move.ConnectionIdMigration;
import io.netty.channel.rdma.loop.move.LoopId;
import io.netty.channel.rdma.metrics.RdmaConnectMetrics;
import io.netty.channel.rdma.metrics.RdmaProviderChoice;
import io.netty.channel.rdma.monitor.ConnectCounters;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import io.netty.channel.rdma.verbs.PortSpace;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.util.internal.UnstableApi;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * Common parts of connected channels, of bytes and of messages: being bound to an address, and connecting, with its
 * promise and timeout.
 *
 * <p>For the channels of this transport. On the loop of the channel.
 */
@UnstableApi
public abstract class AbstractRdmaConnectedChannel extends AbstractRdmaChannel {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(AbstractRdmaConnectedChannel.class);
    /** The time to confirm for a peer on this host: enough even if it waits for a processor, or collects garbage. */
    private static final int MAX_LOCAL_CONFIRMATION_MILLIS = 5_000;

    /** The id that was bound before connecting, or the id of the channel's request until the answer. */
    private LoopId boundId;
    private RdmaConnector connector;
    /** The half-open state of a connection that a peer has requested and not completed, else {@code null}. */
    volatile AbstractRdmaServerChannel<?>.HalfOpen halfOpen;
    volatile RdmaProviderChoice providerChoice;

    protected AbstractRdmaConnectedChannel(Channel parent) {
        super(parent);
    }

    /**
     * The provider of the connection, and the reason for it. Any thread.
     *
     * @return {@code null} before the channel is connected, and if an application has connected it without the
     *         connection manager.
     */
    public final RdmaProviderChoice providerChoice() {
        return providerChoice;
    }

    /** The reason of {@link #providerChoice()} in lower case, for metrics and events, or {@code null}. On the loop. */
    protected final String providerReason() {
        return providerChoice == null ? null : providerChoice.reason().name().toLowerCase(Locale.ROOT);
    }

    /** Notes that the request for which the channel was made came by this provider. */
    final void cameBy(VerbsApi verbs) {
        providerChoice = new RdmaProviderChoice(verbs.provider(), RdmaProviderChoice.Reason.ACCEPTED,
                "the peer has come this way");
    }

    /** Returns whether the channel is, or was, connected. */
    protected abstract boolean hasConnection();

    /** Called when the connect has ended without a connection, before its promise is done. */
    protected void connectEnded() {
        // Another provider may be tried.
    }

    /** Closes the connection of the closed channel. (An id that is bound or connecting is closed elsewhere.) */
    protected abstract void closeConnection();

    // ---- the connection request that the channel was made for, as long as that is in the backlog of its listener

    /** Called when the request has its memory and waits until the listener reads. On the loop of the listener. */
    void hold() {
        // Nothing to do: the channel waits as a request.
    }

    /** Closes the channel, because the peer has withdrawn its request. Has no effect if the listener has read it. */
    protected final void requestWithdrawn() {
        if (parent() != null) {
            ((AbstractRdmaServerChannel<?>) parent()).withdraw(this);
        }
    }

    private void endHalfOpen() {
        AbstractRdmaServerChannel<?>.HalfOpen ended = halfOpen;
        if (ended != null) {
            ended.end();
            halfOpen = null;
        }
    }

    @Override
    final void activate() {
        super.activate();
        endHalfOpen();
    }

    /**
     * Maximum time until the peer of an incoming connection confirms it, in milliseconds; 0 for no limit. Until then
     * the connection keeps memory of this process. A peer on this host confirms in the next turn of its event loop.
     */
    protected final int confirmationMillis() {
        int millis = config().getConnectTimeoutMillis();
        if (providerChoice == null || providerChoice.provider() != VerbsProvider.EMBEDDED) {
            return millis;
        }
        return millis > 0 ? Math.min(millis, MAX_LOCAL_CONFIRMATION_MILLIS) : MAX_LOCAL_CONFIRMATION_MILLIS;
    }

    /** Sets the id of the request, whose events the channel gets from now on. On the loop of the handler. */
    void request(LoopHandler handler, ConnectionId id) throws Exception {
        boundId = new LoopId(handler, id, listener(this::requestEvent));
    }

    /** Moves the id of the request to another loop. On the loop that reads its events. */
    void leaveRequest(EventChannel events) throws Exception {
        boundId.leave(events);
    }

    /** Makes this loop read the events of the request's id. */
    void attachRequest(LoopHandler handler) {
        boundId.attach(handler);
        handler.eventsIfAny(boundId.id().verbs()).listen(boundId.id(), boundId.listener());
    }

    /** The provider whose listener got the request. */
    VerbsApi requestedBy() {
        return boundId.id().verbs();
    }

    /** Takes a request that an application has moved to the loop of this channel. */
    protected final void request(ConnectionId id) throws Exception {
        cameBy(id.verbs());
        request(handler(), id);
    }

    /**
     * Handles an event of a request that is not answered yet. On the loop of the channel or, before the channel has
     * one, of the listener.
     */
    protected void requestEvent(ConnectionEvent event) {
        throw new UnsupportedOperationException();
    }

    /** Rejects and closes a connection request, and tells the peer why. Returns whether the request was still there. */
    protected static boolean reject(ConnectionId request, RdmaConnectMetrics.Rejection kind, String reason) {
        return reject(request, kind, Rejection.data(reason));
    }

    /** Rejects and closes a connection request, with private data of up to 148 bytes. */
    protected static boolean reject(ConnectionId request, RdmaConnectMetrics.Rejection kind, byte[] data) {
        try {
            return tellRejection(request, kind, data);
        } finally {
            request.close();
        }
    }

    /** Rejects the request. The caller closes it after the other objects of the connection. */
    protected static boolean tellRejection(ConnectionId request, RdmaConnectMetrics.Rejection kind, String reason) {
        return tellRejection(request, kind, Rejection.data(reason));
    }

    private static boolean tellRejection(ConnectionId request, RdmaConnectMetrics.Rejection kind, byte[] data) {
        try {
            request.reject(data);
            ConnectCounters.rejected(kind);
            return true;
        } catch (VerbsException | IllegalStateException e) {
            // The request may be gone already, for example with the event loop of the listener.
            logger.debug("Could not reject {}", request, e);
            return false;
        }
    }

    // ---- binding

    @Override
    @SuppressWarnings("exports") // for the channels of this module
    protected final List<? extends ConnectionIdMigration.Owner> owners() {
        return idOwners();
    }

    List<? extends ConnectionIdMigration.Owner> idOwners() {
        ConnectionIdMigration.Owner owner = connector != null ? connector.owner() : boundId;
        return owner == null ? Collections.emptyList() : List.of(owner);
    }

    @Override
    protected void deregistered() {
        if (connector != null) {
            connector.owner().detach();
        }
    }

    @Override
    protected void closeNative() {
        cancelConnector();
        if (boundId != null) {
            if (parent() != null && misused != null) {
                // ServerBootstrap closes what it can't configure or register.
                tellRejection(boundId.id(), RdmaConnectMetrics.Rejection.SERVER,
                        "the server can't accept: " + misused);
            }
            boundId.close();
            boundId = null;
        }
        closeConnection();
    }

    @Override
    protected void doBind(SocketAddress localAddress) throws Exception {
        InetSocketAddress address = checkResolved(localAddress);
        if (boundId != null || connector != null || hasConnection()) {
            throw new AlreadyBoundException();
        }
        // The remote address is not known yet. Of the providers with the local address, take that with the longest
        // reach.
        List<VerbsApi> providers = connecting().queuePairOptions().device.providers();
        for (int i = providers.size() - 1; boundId == null; i--) {
            try {
                boundId = bind(providers.get(i), address);
            } catch (NoRdmaDeviceException e) {
                if (i == 0) {
                    throw e;
                }
            }
        }
        local = boundId.id().localAddress();
    }

    private LoopId bind(VerbsApi verbs, InetSocketAddress address) throws Exception {
        LoopId result = newLoopId(verbs);
        try {
            Bind.bind(result.id(), address, connecting().queuePairOptions().device);
            return result;
        } catch (Throwable t) {
            result.close();
            throw t;
        }
    }

    /** The id that was bound or requested, or {@code null}. It stays with the channel. */
    protected final ConnectionId boundId() {
        return boundId == null ? null : boundId.id();
    }

    /** Passes the id that was bound or requested to the caller. */
    protected final ConnectionId takeBoundId() {
        ConnectionId id = boundId.id();
        boundId = null;
        return id;
    }

    /** Makes a new id without events for the caller. */
    LoopId newLoopId(VerbsApi verbs) throws Exception {
        ConnectionId id = ConnectionId.create(handler().events(verbs).channel, PortSpace.TCP);
        try {
            if (connecting().queuePairOptions().get(QueuePairOptions.REUSE_ADDRESS)) {
                id.setReuseAddress(true);
            }
            return new LoopId(handler(), id, listener(event -> { }));
        } catch (Throwable t) {
            id.close();
            throw t;
        }
    }

    // ---- connecting

    final ConnectingUnsafe connecting() {
        return (ConnectingUnsafe) ownUnsafe();
    }

    protected final boolean isConnecting() {
        return connector != null;
    }

    /** Makes the channel active, because the connection is made. */
    protected final void connected(InetSocketAddress newRemote) {
        connector = null;
        remote = newRemote;
        ConnectCounters.connected(providerChoice.provider(), providerChoice.reason());
        activate();
        connecting().connected();
    }

    /** Fails the connect. */
    protected final void connectFailed(Throwable cause) {
        VerbsProvider provider = connector == null ? null : connector.provider();
        cancelConnector();
        providerChoice = null;
        connecting().connectFailed(cause, provider);
    }

    private void cancelConnector() {
        if (connector != null) {
            connector.cancel();
            connector = null;
            connectEnded();
        }
    }

    @Override
    protected void doClose() throws Exception {
        super.doClose();
        endHalfOpen();
        connecting().cancelConnect();
    }

    /** The part of a connected channel that the pipeline calls. */
    protected abstract class ConnectingUnsafe extends AbstractRdmaUnsafe {
        private ChannelPromise connectPromise;
        private InetSocketAddress requestedRemote;

        protected ConnectingUnsafe() { }

        @SuppressWarnings("exports") // for the channels of this module
        protected abstract QueuePairOptions queuePairOptions();

        /**
         * Creates the queue pair for an id whose route is resolved. On success the id belongs to the connection. The
         * connection belongs to the caller until it is {@linkplain #connected(OutgoingConnection, ConnectionEvent,
         * InetSocketAddress) the channel's}.
         */
        @SuppressWarnings("exports") // for the channels of this module
        protected abstract OutgoingConnection createConnection(LoopId id) throws Exception;

        /**
         * Takes over the connection, which the peer has accepted. Must call {@link
         * AbstractRdmaConnectedChannel#connected(InetSocketAddress)} at its end, or throw.
         */
        @SuppressWarnings("exports") // for the channels of this module
        protected abstract void connected(OutgoingConnection connection, ConnectionEvent event, InetSocketAddress peer)
                throws Exception;

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            if (promise.isDone() || !ensureOpen(promise)) {
                return;
            }
            try {
                checkNotConnected();
                InetSocketAddress newRemote = checkResolved(remoteAddress);
                InetSocketAddress newLocal = localAddress == null ? null : checkResolved(localAddress);
                if (!isRegistered()) {
                    throw new IllegalStateException("the channel is not registered with an event loop");
                }
                LoopId bound = boundId;
                boundId = null;
                connector = new RdmaConnector(AbstractRdmaConnectedChannel.this, newRemote, newLocal);
                connectPromise = promise;
                requestedRemote = newRemote;
                connector.start(bound);
                promise.addListener(future -> {
                    if (future.isCancelled()) {
                        onLoop(() -> {
                            connectPromise = null;
                            close(voidPromise());
                        });
                    }
                });
            } catch (Throwable t) {
                if (connectPromise == promise) {
                    AbstractRdmaConnectedChannel.this.connectFailed(t);
                    close(voidPromise());
                } else {
                    promise.tryFailure(annotateConnectException(t, remoteAddress));
                    closeIfClosed();
                }
            }
        }

        /** Throws if the channel is connected or connecting: a channel is connected once. */
        protected final void checkNotConnected() {
            if (connectPromise != null) {
                throw new ConnectionPendingException();
            }
            if (hasConnection()) {
                throw new AlreadyConnectedException();
            }
        }

        /** Fails the connect, which was not made in time. */
        final void connectTimedOut(ConnectTimeoutException cause) {
            ChannelPromise promise = connectPromise;
            if (promise != null) {
                countFailure(promise, cause, connector.provider());
                if (promise.tryFailure(cause)) {
                    close(voidPromise());
                }
            }
        }

        /** Counts a failed connect. Called before the application is told, because it may then look at the metrics. */
        private void countFailure(ChannelPromise promise, Throwable cause, VerbsProvider provider) {
            if (!promise.isDone()) {
                ConnectCounters.failed(requestedRemote, provider, RdmaConnectMetrics.Failure.of(cause), cause);
            }
        }

        private ChannelPromise endConnect() {
            ChannelPromise promise = connectPromise;
            connectPromise = null;
            return promise;
        }

        /** Tells the application that the channel has become active. */
        private void connected() {
            ChannelPromise promise = endConnect();
            // A listener of the promise may close the channel, for example. The channel was active before that.
            boolean promiseSet = promise != null && promise.trySuccess();
            pipeline().fireChannelActive();
            if (!promiseSet) {
                close(voidPromise());
            }
        }

        private void connectFailed(Throwable cause, VerbsProvider provider) {
            ChannelPromise promise = endConnect();
            if (promise != null) {
                countFailure(promise, cause, provider);
                promise.tryFailure(annotateConnectException(cause, requestedRemote));
                closeIfClosed();
            }
        }

        /** Fails the connect of a closed channel. */
        private void cancelConnect() {
            ChannelPromise promise = endConnect();
            if (promise != null) {
                promise.tryFailure(new ClosedChannelException());
            }
        }

        @Override
        protected void flush0() {
            // Messages that are flushed while the channel connects wait, as with epoll.
            if (!isConnecting()) {
                super.flush0();
            }
        }
    }
}
