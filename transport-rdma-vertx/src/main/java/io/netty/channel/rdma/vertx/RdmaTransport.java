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
package io.netty.channel.rdma.vertx;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.RdmaIoHandlerConfig;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.vertx.core.VertxBuilder;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.impl.HttpClientConnectionInternal;
import io.vertx.core.http.impl.HttpServerConnection;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetSocket;
import io.vertx.core.transport.Transport;

import java.util.LinkedHashMap;
import java.util.Map;

import static io.netty.util.internal.ObjectUtil.checkNotNull;

/**
 * RDMA as a transport of Vert.x 5, for {@link VertxBuilder#withTransport}:
 *
 * <pre>{@code
 * Vertx vertx = Vertx.builder().withTransport(RdmaTransport.rdmaOrTcp()).build();
 * }</pre>
 *
 * Servers and clients of TCP and HTTP, with or without TLS, then use RDMA. Datagram and Unix domain sockets are
 * epoll's, on the same event loops. An application that can't be changed gets the transport by a system property: see
 * {@link #PROPERTY}. Neither the class path nor {@code preferNativeTransport} chooses this transport.
 *
 * <p>If RDMA is not available, neither is {@link #rdma()}. Vert.x then takes its NIO transport, as for any transport,
 * and a warning has the reason. {@link #rdmaOrTcp()} goes over TCP there, by epoll.
 *
 * <p>Immutable. Any number of {@code Vertx} objects may have the same one.
 */
public final class RdmaTransport implements Transport {
    /**
     * The name of a system property that overrides the transport of all {@code Vertx} objects of the process: {@code
     * rdma}, {@code rdma-or-tcp}, or {@code tcp}. The last one takes a transport of Vert.x's own if the application
     * asks for RDMA. Read when a {@code Vertx} is built, which fails if the property has another value.
     */
    public static final String PROPERTY = "io.netty.rdma.vertx.transport";

    private static final RdmaTransport RDMA = new RdmaTransport(null, new RdmaIoHandlerConfig(), Map.of());
    private static final RdmaTransport RDMA_OR_TCP = rdmaOrTcp(RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_OR_TCP));

    /** {@code null} for RDMA alone. */
    private final RdmaOrTcpRule rule;
    private final RdmaIoHandlerConfig loops;
    private final Map<ChannelOption<?>, Object> options;
    private final RdmaTransportImplementation implementation;

    private RdmaTransport(RdmaOrTcpRule rule, RdmaIoHandlerConfig loops, Map<ChannelOption<?>, Object> options) {
        this.rule = rule;
        this.loops = loops;
        this.options = options;
        implementation = new RdmaTransportImplementation(rule, loops, options);
    }

    /** RDMA for each TCP socket. A server listens for RDMA alone, and a client whose RDMA fails does not connect. */
    public static RdmaTransport rdma() {
        return RDMA;
    }

    /** RDMA or TCP: a server listens for both at its port, a client takes RDMA if it can, else TCP. */
    public static RdmaTransport rdmaOrTcp() {
        return RDMA_OR_TCP;
    }

    /**
     * RDMA or TCP, or only one of them, by the address that a client connects to or that a server listens at.
     *
     * @param rule called on event loops, of several connections at the same time.
     */
    public static RdmaTransport rdmaOrTcp(RdmaOrTcpRule rule) {
        return new RdmaTransport(checkNotNull(rule, "rule"), new RdmaIoHandlerConfig(), Map.of());
    }

    /**
     * Returns a transport with event loops that wait as this says.
     *
     * @param config read when a {@code Vertx} is made.
     */
    public RdmaTransport withLoops(RdmaIoHandlerConfig config) {
        return new RdmaTransport(rule, checkNotNull(config, "config"), options);
    }

    /**
     * Returns a transport whose connections, of clients and of servers, have this option, too. The value replaces
     * Vert.x's. Connections over TCP get options that they know.
     *
     * @throws IllegalArgumentException for {@link ChannelOption#ALLOCATOR}, because Vert.x releases only buffers from
     *                                  Netty's own allocators.
     */
    public <T> RdmaTransport withOption(ChannelOption<T> option, T value) {
        if (checkNotNull(option, "option") == ChannelOption.ALLOCATOR) {
            throw new IllegalArgumentException("ALLOCATOR can't be set: Vert.x does not release what it reads " +
                    "if that comes from another allocator than Netty's own");
        }
        Map<ChannelOption<?>, Object> more = new LinkedHashMap<>(options);
        more.put(option, checkNotNull(value, "value"));
        return new RdmaTransport(rule, loops, more);
    }

    /** Transport of a connection. */
    public static RdmaOrTcpTransport transport(NetSocket socket) {
        return transport(((NetSocketInternal) socket).channelHandlerContext());
    }

    /** Transport of a connection, for example of {@code request.connection()} of a server or client of HTTP. */
    public static RdmaOrTcpTransport transport(HttpConnection connection) {
        return transport(connection instanceof HttpServerConnection ?
                ((HttpServerConnection) connection).channelHandlerContext() :
                ((HttpClientConnectionInternal) connection).channelHandlerContext());
    }

    private static RdmaOrTcpTransport transport(ChannelHandlerContext ctx) {
        Channel channel = ctx.channel();
        RdmaOrTcpTransport transport = channel.attr(RdmaOrTcp.TRANSPORT).get();
        return transport != null ? transport : channel instanceof RdmaSocketChannel ? RdmaOrTcpTransport.RDMA :
                RdmaOrTcpTransport.TCP;
    }

    /** {@code rdma} or {@code rdma-or-tcp}. */
    @Override
    public String name() {
        return rule == null ? "rdma" : "rdma-or-tcp";
    }

    @Override
    public boolean available() {
        return implementation.unavailabilityCause() == null;
    }

    @Override
    public Throwable unavailabilityCause() {
        return implementation.unavailabilityCause();
    }

    @Override
    public io.vertx.core.spi.transport.Transport implementation() {
        return implementation;
    }

    @Override
    public String toString() {
        return "RdmaTransport(" + name() + ')';
    }
}
