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
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.RdmaIoHandlerConfig;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.UnixChannelOption;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.net.ClientOptionsBase;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.TCPSSLOptions;
import io.vertx.core.spi.transport.Transport;

import java.net.SocketAddress;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What Vert.x asks a transport for. It sets no allocator: see the package description.
 */
final class RdmaTransportImplementation implements Transport {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaTransportImplementation.class);

    private static final Throwable UNAVAILABILITY_CAUSE = unavailability();

    private final RdmaIoHandlerConfig loops;
    private final Map<ChannelOption<?>, Object> options;
    /** What the log has about options. Once will do: Vert.x has the same ones for each connection of a client. */
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    RdmaTransportImplementation(RdmaIoHandlerConfig loops, Map<ChannelOption<?>, Object> options) {
        this.loops = loops;
        this.options = options;
    }

    private static Throwable unavailability() {
        try {
            Transport.class.getMethod("datagramChannel");
        } catch (NoSuchMethodException e) {
            return new UnsupportedOperationException("netty-transport-rdma-vertx is for Vert.x 5.0: the interface of " +
                    "transports is another one in this version");
        }
        return Rdma.unavailabilityCause();
    }

    @Override
    public boolean isAvailable() {
        Throwable cause = unavailabilityCause();
        if (cause != null && warned.add("")) {
            // Vert.x logs nothing: it has Vertx.unavailableNativeTransportCause() for who asks.
            logger.warn("RDMA is not available, and Vert.x takes NIO instead: {}", cause.toString());
        }
        return cause == null;
    }

    @Override
    public Throwable unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
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
        return RdmaIoHandler.newFactory(loops);
    }

    @Override
    public DatagramChannel datagramChannel() {
        return new EpollDatagramChannel();
    }

    /** As with epoll's transport, of both families whatever is asked for. */
    @Override
    @SuppressWarnings("deprecation") // the type of the SPI
    public DatagramChannel datagramChannel(io.netty.channel.socket.InternetProtocolFamily family) {
        return new EpollDatagramChannel();
    }

    @Override
    public ChannelFactory<? extends Channel> channelFactory(boolean domainSocket) {
        return domainSocket ? EpollDomainSocketChannel::new : RdmaSocketChannel::new;
    }

    @Override
    public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
        return domainSocket ? EpollServerDomainSocketChannel::new : RdmaServerSocketChannel::new;
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
            warnOfIgnored(clientOptions);
            if (clientOptions.getTcpUserTimeout() != 0) {
                bootstrap.option(EpollChannelOption.TCP_USER_TIMEOUT, clientOptions.getTcpUserTimeout());
            }
            options.forEach((option, value) -> set(bootstrap, option, value));
        }
    }

    @Override
    public void configure(NetServerOptions serverOptions, boolean domainSocket, ServerBootstrap bootstrap) {
        Transport.super.configure(serverOptions, domainSocket, bootstrap);
        if (!domainSocket) {
            warnOfIgnored(serverOptions);
            if (serverOptions.getTcpUserTimeout() != 0) {
                bootstrap.childOption(EpollChannelOption.TCP_USER_TIMEOUT, serverOptions.getTcpUserTimeout());
            }
            options.forEach((option, value) -> setChild(bootstrap, option, value));
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> void set(Bootstrap bootstrap, ChannelOption<?> option, Object value) {
        bootstrap.option((ChannelOption<T>) option, (T) value);
    }

    @SuppressWarnings("unchecked")
    private static <T> void setChild(ServerBootstrap bootstrap, ChannelOption<?> option, Object value) {
        bootstrap.childOption((ChannelOption<T>) option, (T) value);
    }

    private void warnOfIgnored(TCPSSLOptions tcp) {
        warnIf(tcp.isTcpFastOpen(), "tcpFastOpen: an RDMA connection carries no data before it is established");
        warnIf(tcp.isTcpCork(), "tcpCork: RDMA sends what was flushed at once");
        warnIf(tcp.isTcpQuickAck(), "tcpQuickAck: acknowledgements are the adapter's");
        warnIf(tcp.isReusePort(), "reusePort: an RDMA port has one listener. Instances of a verticle share it, but " +
                "processes can't");
    }

    private void warnIf(boolean set, String ignored) {
        if (set && warned.add(ignored)) {
            logger.warn("RDMA has no option {}. It is ignored.", ignored);
        }
    }
}
