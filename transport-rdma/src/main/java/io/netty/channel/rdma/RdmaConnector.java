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

import io.netty.channel.rdma.connection.Bind;
import io.netty.channel.rdma.connection.DeviceOptions;
import io.netty.channel.rdma.connection.RdmaConnection;
import io.netty.channel.rdma.connection.Reachability;
import io.netty.channel.rdma.connection.Rejection;
import io.netty.channel.rdma.loop.CurrentLoop;
import io.netty.channel.rdma.loop.IdMove;
import io.netty.channel.rdma.loop.LoopEvents;
import io.netty.channel.rdma.loop.LoopId;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.ConnectionRejectedException;
import io.netty.channel.rdma.verbs.Verbs;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.util.Collections;
import java.util.Iterator;

/**
 * Makes one outgoing connection: address, route, queue pair, request. It tries the providers that the channel may use,
 * the nearest one first, until one leads to a peer that listens. On the loop.
 */
final class RdmaConnector implements LoopEvents.Listener {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaConnector.class);

    private final AbstractRdmaConnectedChannel channel;
    private final InetSocketAddress requestedRemote;
    /** Or {@code null}. */
    private final InetSocketAddress requestedLocal;
    /** That are left to try. */
    private Iterator<Verbs> providers = Collections.emptyIterator();
    /** Why those that were tried do not do, or {@code null}. */
    private IOException failure;
    private LoopId loopId;
    private ConnectionId id;
    private InetSocketAddress remote;
    /** The id belongs to the connection. */
    private boolean created;
    private boolean done;

    /** @param local or {@code null}. */
    RdmaConnector(AbstractRdmaConnectedChannel channel, InetSocketAddress remote, InetSocketAddress local) {
        this.channel = channel;
        requestedRemote = remote;
        requestedLocal = local;
    }

    LoopId loopId() {
        return loopId;
    }

    CurrentLoop loop() {
        return loopId.loop();
    }

    /** What goes to another event loop with the channel. */
    IdMove.Owner owner() {
        RdmaConnection connection = channel.outgoing();
        return connection == null ? loopId : connection;
    }

    /** The channel is deregistered: what happens waits. */
    void detach() {
        RdmaConnection connection = channel.outgoing();
        if (connection == null) {
            loopId.loop().detach();
        } else {
            connection.detach();
        }
    }

    /**
     * The result is given to the channel.
     *
     * @param bound that is to be connected, and belongs to this object from now on; or {@code null}.
     */
    void start(LoopId bound) throws Exception {
        if (bound != null) {
            start(bound, bound.id().localAddress());
            return;
        }
        providers = channel.queuePairOptions().device.providers().iterator();
        startNext();
    }

    private void startNext() throws Exception {
        for (;;) {
            try {
                start(channel.newLoopId(providers.next()), null);
                return;
            } catch (IOException e) {
                fallBack(e);
            }
        }
    }

    /** @param boundTo the address that the id has already, or {@code null}. */
    private void start(LoopId newLoopId, InetSocketAddress boundTo) throws Exception {
        loopId = newLoopId;
        id = loopId.id();
        loopId.listener(this);
        Verbs verbs = id.verbs();
        DeviceOptions device = channel.queuePairOptions().device;
        InetSocketAddress from = boundTo != null ? requestedLocal :
                device.local(verbs, requestedLocal, requestedRemote.getAddress());
        remote = Reachability.destination(verbs, requestedRemote, from);
        if (from != null) {
            Bind.bind(id, from, device);
        }
        channel.queuePairOptions().route(id);
        try {
            id.resolveAddress(null, remote, channel.queuePairOptions().resolveTimeoutMillis.get());
        } catch (VerbsException e) {
            throw Reachability.unreachable(verbs, e);
        }
    }

    /**
     * Gives up the provider that was tried last, if there is another one and the peer was not reached.
     *
     * @throws IOException if there is none.
     */
    private void fallBack(IOException cause) throws IOException {
        if (!providers.hasNext() || !isNoAnswer(cause)) {
            throw mostTelling(cause);
        }
        logger.debug("{}: {} does not lead to {}: {}", channel, id == null ? "no provider" : id.verbs(),
                requestedRemote, cause.toString());
        failure = cause;
        discard();
    }

    /** Whether the provider has no way to the peer, or nobody listens to it there. */
    private static boolean isNoAnswer(IOException cause) {
        return cause instanceof ConnectionRejectedException ? ((ConnectionRejectedException) cause).isRefused() :
                cause instanceof SocketException;
    }

    /** That nobody listens says more than that another provider has no way. */
    private IOException mostTelling(IOException cause) {
        if (failure == null) {
            return cause;
        }
        boolean earlier = failure instanceof ConnectionRejectedException && cause instanceof NoRouteToHostException;
        IOException telling = earlier ? failure : cause;
        telling.addSuppressed(earlier ? cause : failure);
        return telling;
    }

    @Override
    public void connectionEvent(ConnectionEvent event) {
        if (done || event.id() != id) {
            return;
        }
        try {
            switch (event.type()) {
            case ADDRESS_RESOLVED:
                channel.local = id.localAddress();
                resolveRoute();
                break;
            case ROUTE_RESOLVED:
                request();
                break;
            case ESTABLISHED:
                established(event);
                break;
            case ADDRESS_ERROR:
            case ROUTE_ERROR:
                throw Reachability.unreachable(event, remote);
            case UNREACHABLE:
            case CONNECT_ERROR:
                throw new ConnectException("Connection failed (" + event.describe() + ')');
            case REJECTED:
                throw rejected(event);
            case DISCONNECTED:
                throw new ConnectException("Connection reset by peer");
            case DEVICE_REMOVAL:
                throw new IOException("the RDMA device was removed");
            default:
            }
        } catch (Throwable t) {
            failed(t);
        }
    }

    /** Also an OutOfMemoryError: there may be no direct memory for the receive buffer. */
    private void failed(Throwable cause) {
        Throwable earlier = created ? channel.createdFailure() : null;
        Throwable last = cause;
        if (earlier != null) {
            // What else goes wrong with a queue pair that is broken only follows from that.
            last = earlier;
        } else if (cause instanceof IOException) {
            try {
                fallBack((IOException) cause);
                startNext();
                channel.connectingAgain();
                return;
            } catch (Throwable t) {
                last = t;
            }
        }
        done = true;
        channel.connectFailed(last);
    }

    @Override
    public void unexpected(Throwable cause) {
        if (!done) {
            done = true;
            channel.connectFailed(cause);
        }
    }

    private void resolveRoute() throws IOException {
        try {
            id.resolveRoute(channel.queuePairOptions().resolveTimeoutMillis.get());
        } catch (VerbsException e) {
            // The kernel finds a device for the loopback address, but no route.
            throw Reachability.unreachable(id.verbs(), e);
        }
    }

    private void request() throws Exception {
        ConnectionParameters parameters = channel.createConnection(id);
        created = true;
        id.connect(parameters);
    }

    private void established(ConnectionEvent event) throws Exception {
        done = true;
        channel.local = id.localAddress();
        channel.queuePairOptions().connected(id.queuePair());
        channel.connectionEstablished(id, event, remote);
    }

    private static ConnectionRejectedException rejected(ConnectionEvent event) {
        if (event.isNobodyListening()) {
            return new ConnectionRejectedException("Connection refused", true, event.privateData());
        }
        String reason = event.isRejectedByApplication() ? Rejection.text(event.privateData()) : "";
        if (reason.isEmpty() && event.isRejectedByApplication()) {
            // Also what the kernel says where somebody listens at the port, but not at this address.
            return new ConnectionRejectedException("Connection refused (nobody listens at this address, or the peer " +
                    "gives no reason)", true, event.privateData());
        }
        return new ConnectionRejectedException("Connection " + (reason.isEmpty() ? event.describe() :
                "rejected by the peer: " + reason), false, event.privateData());
    }

    /** The channel is closed or gives up. */
    void cancel() {
        done = true;
        discard();
    }

    private void discard() {
        if (created || channel.outgoing() != null) {
            channel.discardConnection();
            created = false;
        } else if (loopId != null) {
            loopId.close();
        }
        loopId = null;
        id = null;
    }
}
