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
package io.netty.channel.rdma.verbs;

import java.net.InetSocketAddress;

/**
 * Two endpoints of this process, connected through the connection manager.
 */
final class ConnectedPair implements AutoCloseable {
    static final ConnectionParameters DEFAULTS = new ConnectionParameters().responderResources(4).initiatorDepth(4);

    final EventChannel clientEvents;
    final EventChannel serverEvents;
    final ConnectionId listener;
    Endpoint client;
    Endpoint server;

    ConnectedPair() throws Exception {
        this(DEFAULTS, DEFAULTS);
    }

    ConnectedPair(ConnectionParameters clientParameters, ConnectionParameters serverParameters) throws Exception {
        this(VerbsApi.preferred(), clientParameters, serverParameters);
    }

    /** Pair of a given provider. */
    ConnectedPair(VerbsApi verbs) throws Exception {
        this(verbs, DEFAULTS, DEFAULTS);
    }

    private ConnectedPair(VerbsApi verbs, ConnectionParameters clientParameters, ConnectionParameters serverParameters)
            throws Exception {
        clientEvents = EventChannel.create(verbs);
        serverEvents = EventChannel.create(verbs);
        listener = ConnectionId.create(serverEvents, PortSpace.TCP);
        listener.bind(TestSupport.address(0));
        listener.listen(16);
        client = new Endpoint(resolved(clientEvents, listener));
        client.id.connect(clientParameters);
        server = new Endpoint(TestSupport.event(serverEvents, ConnectionEventType.CONNECT_REQUEST).id());
        server.id.accept(serverParameters);
        TestSupport.event(clientEvents, ConnectionEventType.ESTABLISHED);
        TestSupport.event(serverEvents, ConnectionEventType.ESTABLISHED);
    }

    /** An id that has found its way to a listener. */
    static ConnectionId resolved(EventChannel events, ConnectionId listener) throws Exception {
        return resolved(events, listener.localAddress().getPort());
    }

    static ConnectionId resolved(EventChannel events, int port) throws Exception {
        return resolved(events, TestSupport.address(port));
    }

    static ConnectionId resolved(EventChannel events, InetSocketAddress address) throws Exception {
        return resolved(events, null, address);
    }

    /** @param local that the id is bound to, or {@code null}. */
    static ConnectionId resolved(EventChannel events, InetSocketAddress local, InetSocketAddress address)
            throws Exception {
        ConnectionId id = ConnectionId.create(events, PortSpace.TCP);
        id.resolveAddress(local, address, TestSupport.RESOLVE_MILLIS);
        TestSupport.event(events, ConnectionEventType.ADDRESS_RESOLVED);
        id.resolveRoute(TestSupport.RESOLVE_MILLIS);
        TestSupport.event(events, ConnectionEventType.ROUTE_RESOLVED);
        return id;
    }

    @Override
    public void close() {
        client.close();
        server.close();
        listener.close();
        clientEvents.close();
        serverEvents.close();
    }
}
