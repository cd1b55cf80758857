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

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.RdmaIoHandlerConfig;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChannelOption;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.UnixChannelOption;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.impl.transports.EpollTransport;
import io.vertx.core.net.ClientOptionsBase;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.TCPSSLOptions;
import io.vertx.core.spi.transport.Transport;

import java.net.SocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Implementation of Vert.x's interface of transports. Sets no allocator: see the package description.
 */
final class RdmaTransportImplementation implements Transport {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaTransportImplementation.class);

    private static final Throwable WRONG_VERSION = wrongVersion();

    /** {@code null} for RDMA alone. */
    private final RdmaOrTcpRule rule;
    private final RdmaIoHandlerConfig loops;
    private final Map<ChannelOption<?>, Object> options;
    /** Warnings about options, each logged once: Vert.x sets the same options for each connection of a client. */
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    RdmaTransportImplementation(RdmaOrTcpRule rule, RdmaIoHandlerConfig loops, Map<ChannelOption<?>, Object> options) {
        this.rule = rule;
        this.loops = loops;
        this.options = options;
    }

    private static Throwable wrongVersion() {
        try {
            Transport.class.getMethod("datagramChannel");
        } catch (NoSuchMethodException e) {
            return new UnsupportedOperationException("netty-transport-rdma-vertx is for Vert.x 5.0: the interface of " +
                    "transports is another one in this version");
        }
        return null;
    }

    @Override
    public boolean isAvailable() {
        Throwable cause = unavailabilityCause();
        if (cause != null && warned.add("")) {
            // Vert.x logs nothing; it only has Vertx.unavailableNativeTransportCause().
            logger.warn("{} is not available, and Vert.x takes NIO instead: {}",
                    rule == null ? "RDMA" : "RDMA or TCP by epoll", cause.toString());
        }
        return cause == null;
    }

    @Override
    public Throwable unavailabilityCause() {
        if (WRONG_VERSION != null) {
            return WRONG_VERSION;
        }
        return rule == null ? Rdma.unavailabilityCause() : Epoll.unavailabilityCause();
    }

    @Override
    public boolean supportsDomainSockets() {
        return true;
    }

    @Override
    public SocketAddress convert(io.vertx.core.net.SocketAddress address) {
        return address.isDomainSocket() ? new DomainSocketAddress(address.path()) :
                Transport.super.convert(address);
    }

    @Override
    public io.vertx.core.net.SocketAddress convert(SocketAddress address) {
        return address instanceof DomainSocketAddress ?
                io.vertx.core.net.SocketAddress.domainSocketAddress(((DomainSocketAddress) address).path()) :
                Transport.super.convert(address);
    }

    @Override
    public IoHandlerFactory ioHandlerFactory() {
        return Rdma.isAvailable() ? RdmaIoHandler.newFactory(loops) : EpollIoHandler.newFactory();
    }

    @Override
    public DatagramChannel datagramChannel() {
        return new EpollDatagramChannel();
    }

    /** Returns a channel for both families, as epoll's transport does. */
    @Override
    @SuppressWarnings("deprecation") // the type of the SPI
    public DatagramChannel datagramChannel(io.netty.channel.socket.InternetProtocolFamily family) {
        return new EpollDatagramChannel();
    }

    @Override
    public ChannelFactory<? extends Channel> channelFactory(boolean domainSocket) {
        if (domainSocket) {
            return EpollDomainSocketChannel::new;
        }
        return rule == null ? RdmaSocketChannel::new : () -> new RdmaOrTcpSocketChannel(rule);
    }

    @Override
    public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
        if (domainSocket) {
            return EpollServerDomainSocketChannel::new;
        }
        return rule == null ? RdmaServerSocketChannel::new : () -> new RdmaOrTcpServerSocketChannel(rule);
    }

    @Override
    public void configure(DatagramChannel channel, DatagramSocketOptions datagramOptions) {
        channel.config().setOption(UnixChannelOption.SO_REUSEPORT, datagramOptions.isReusePort());
        Transport.super.configure(channel, datagramOptions);
    }

    @Override
    public void configure(ClientOptionsBase clientOptions, int connectTimeout, boolean domainSocket,
                          Bootstrap bootstrap) {
        Transport.super.configure(clientOptions, connectTimeout, domainSocket, bootstrap);
        if (!domainSocket) {
            connectionOptions(clientOptions).forEach((option, value) -> set(bootstrap, option, value));
            if (clientOptions.isTcpFastOpen() && rule != null) {
                bootstrap.option(ChannelOption.TCP_FASTOPEN_CONNECT, true);
            }
        }
    }

    @Override
    public void configure(NetServerOptions serverOptions, boolean domainSocket, ServerBootstrap bootstrap) {
        Transport.super.configure(serverOptions, domainSocket, bootstrap);
        if (domainSocket) {
            return;
        }
        Map<ChannelOption<?>, Object> connectionOptions = connectionOptions(serverOptions);
        if (rule == null) {
            connectionOptions.forEach((option, value) -> setChild(bootstrap, option, value));
            return;
        }
        bootstrap.option(RdmaOrTcpChannelOption.CHILD_OPTIONS, connectionOptions);
        if (serverOptions.isTcpFastOpen()) {
            bootstrap.option(ChannelOption.TCP_FASTOPEN, EpollTransport.getPendingFastOpenRequestsThreshold());
        }
    }

    /** Options of connections that Vert.x does not set itself. */
    private Map<ChannelOption<?>, Object> connectionOptions(TCPSSLOptions tcp) {
        warnIf(tcp.isReusePort(), "reusePort: an RDMA port has one listener. Instances of a verticle share it, but " +
                "processes can't");
        Map<ChannelOption<?>, Object> all = new LinkedHashMap<>();
        if (tcp.getTcpUserTimeout() != 0) {
            all.put(EpollChannelOption.TCP_USER_TIMEOUT, tcp.getTcpUserTimeout());
        }
        if (rule == null) {
            warnIf(tcp.isTcpFastOpen(), "tcpFastOpen: an RDMA connection carries no data before it is established");
            warnIf(tcp.isTcpCork(), "tcpCork: RDMA sends what was flushed at once");
            warnIf(tcp.isTcpQuickAck(), "tcpQuickAck: acknowledgements are the adapter's");
        } else {
            all.put(EpollChannelOption.TCP_CORK, tcp.isTcpCork());
            all.put(EpollChannelOption.TCP_QUICKACK, tcp.isTcpQuickAck());
        }
        all.putAll(options);
        return all;
    }

    @SuppressWarnings("unchecked")
    private static <T> void set(Bootstrap bootstrap, ChannelOption<?> option, Object value) {
        bootstrap.option((ChannelOption<T>) option, (T) value);
    }

    @SuppressWarnings("unchecked")
    private static <T> void setChild(ServerBootstrap bootstrap, ChannelOption<?> option, Object value) {
        bootstrap.childOption((ChannelOption<T>) option, (T) value);
    }

    private void warnIf(boolean set, String ignored) {
        if (set && warned.add(ignored)) {
            logger.warn("RDMA has no option {}. It is ignored.", ignored);
        }
    }
}
