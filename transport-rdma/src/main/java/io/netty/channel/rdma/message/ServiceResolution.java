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

import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.rdma.connection.QueuePairOptions;
import io.netty.channel.rdma.connection.Reachability;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.concurrent.Future;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.util.concurrent.TimeUnit;

/**
 * Finds the queue pair that receives datagrams for an address and port: address, route, request (SIDR).
 *
 * <p>For the channels of this transport. On the loop of the channel.
 */
final class ServiceResolution {
    private final AbstractRdmaDatagramChannel channel;
    private final QueuePairOptions options;
    private final InetSocketAddress remote;
    private final Listener listener;
    private ConnectionId id;
    private Future<?> timer;

    /** Gets the result, once. */
    interface Listener {
        /**
         * @param id has the local address that leads to the peer. Closed after the return.
         * @param answer has the address vector, the number of the queue pair, and its queue key.
         */
        void resolved(ConnectionId id, ConnectionEvent answer) throws Exception;

        void failed(Throwable cause);
    }

    ServiceResolution(AbstractRdmaDatagramChannel channel, QueuePairOptions options, InetSocketAddress remote,
                             Listener listener) {
        this.channel = channel;
        this.options = options;
        this.remote = remote;
        this.listener = listener;
    }

    /**
     * Begins. After an exception of this method the listener is not told.
     *
     * @param local address to ask from, or {@code null} for any.
     * @param timeoutMillis the time for all steps; 0 for no limit.
     */
    void start(InetSocketAddress local, int timeoutMillis) throws Exception {
        id = channel.newConnectionId(remote.getAddress());
        InetSocketAddress from = local;
        try {
            channel.watch(id, this::event);
            if (from == null) {
                from = options.device.local(id.verbs(), null, remote.getAddress());
            }
            options.route(id);
            try {
                id.resolveAddress(from == null ? null : new InetSocketAddress(from.getAddress(), 0),
                        Reachability.destination(id.verbs(), remote, from),
                        options.get(QueuePairOptions.RESOLVE_TIMEOUT_MILLIS));
            } catch (VerbsException e) {
                throw Reachability.unreachable(id.verbs(), e);
            }
            if (timeoutMillis > 0) {
                timer = channel.eventLoop().schedule(() -> fail(new ConnectTimeoutException("nobody has told within " +
                        timeoutMillis + " ms which queue pair receives the datagrams for " + remote)), timeoutMillis,
                        TimeUnit.MILLISECONDS);
            }
        } catch (Throwable t) {
            cancel();
            throw t;
        }
    }

    private void event(ConnectionEvent event) {
        if (id == null) {
            return;
        }
        try {
            switch (event.type()) {
            case ADDRESS_RESOLVED -> id.resolveRoute(options.get(QueuePairOptions.RESOLVE_TIMEOUT_MILLIS));
            case ROUTE_RESOLVED -> id.connect(new ConnectionParameters());
            case ESTABLISHED -> {
                listener.resolved(id, event);
                cancel();
            }
            default -> throw failure(event);
            }
        } catch (Throwable t) {
            fail(t);
        }
    }

    private IOException failure(ConnectionEvent event) {
        switch (event.type()) {
        case UNREACHABLE:
            if (event.isNobodyListening()) {
                return new PortUnreachableException("nobody receives datagrams at " + remote);
            }
            return new PortUnreachableException("no datagrams for " + remote + ": " + event.describe());
        case ADDRESS_ERROR:
        case ROUTE_ERROR:
            return Reachability.unreachable(event, remote);
        default:
            return new IOException("no queue pair was found for " + remote + ": " + event.describe());
        }
    }

    private void fail(Throwable cause) {
        if (id != null) {
            cancel();
            listener.failed(cause);
        }
    }

    /** Ends the resolution without telling the listener. */
    void cancel() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
        if (id != null) {
            channel.unwatch(id);
            id.close();
            id = null;
        }
    }
}
