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
import io.netty.channel.rdma.verbs.VerbsException;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;

/**
 * Makes one outgoing connection: address, route, queue pair, request. On the loop.
 */
final class RdmaConnector implements LoopEvents.Listener {
    private final AbstractRdmaConnectedChannel channel;
    private final LoopId loopId;
    private final ConnectionId id;
    private InetSocketAddress remote;
    /** The id belongs to the connection. */
    private boolean created;
    private boolean done;

    /** @param loopId belongs to this object from now on. */
    RdmaConnector(AbstractRdmaConnectedChannel channel, LoopId loopId, InetSocketAddress remote) {
        this.channel = channel;
        this.loopId = loopId;
        this.remote = remote;
        id = loopId.id();
        loopId.listener(this);
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

    /** The result is given to the channel. */
    void start(InetSocketAddress local) throws Exception {
        DeviceOptions device = channel.queuePairOptions().device;
        InetSocketAddress from = id.localAddress() == null ? device.local(local, remote.getAddress()) : local;
        remote = Reachability.destination(remote, from);
        if (from != null) {
            Bind.bind(id, from, device);
        }
        channel.queuePairOptions().route(id);
        try {
            id.resolveAddress(null, remote, channel.queuePairOptions().resolveTimeoutMillis.get());
        } catch (VerbsException e) {
            throw Reachability.unreachable(e);
        }
    }

    @Override
    public void connectionEvent(ConnectionEvent event) {
        if (done) {
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
            // Also an OutOfMemoryError: there may be no direct memory for the receive buffer.
            done = true;
            Throwable earlier = created ? channel.createdFailure() : null;
            // What else goes wrong with a queue pair that is broken only follows from that.
            channel.connectFailed(earlier == null ? t : earlier);
        }
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
            throw Reachability.unreachable(e);
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
        if (created || channel.outgoing() != null) {
            channel.discardConnection();
        } else {
            loopId.close();
        }
    }
}
