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
package io.netty.channel.rdma.support;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChannelOption;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFailures;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFallback;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

/**
 * Clients that are {@link RdmaOrTcpSocketChannel}s, and the servers that they find, on the same event loops. A test
 * that needs both at one port listens for TCP first: a free port of RDMA's is often in use by TCP, and hardly ever the
 * other way round.
 */
public final class RdmaOrTcpEnds {
    private final EventLoopGroup group;

    public RdmaOrTcpEnds(EventLoopGroup group) {
        this.group = group;
    }

    /** A handler that does nothing. */
    @Sharable
    public static final class Nothing extends ChannelInboundHandlerAdapter { }

    /** A client that remembers for itself, and gives RDMA all the time that it may need. */
    public Bootstrap bootstrap() {
        return bootstrap(RdmaOrTcpSocketChannel::new);
    }

    /** The same, of channels that this makes. */
    public Bootstrap bootstrap(ChannelFactory<RdmaOrTcpSocketChannel> factory) {
        return new Bootstrap().group(group).channelFactory(factory).handler(new Nothing())
                .option(RdmaOrTcpChannelOption.FAILURES, new RdmaOrTcpFailures(1))
                .option(RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS,
                        (int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS));
    }

    public static RdmaOrTcpSocketChannel connect(Bootstrap bootstrap, InetSocketAddress address)
            throws InterruptedException {
        return (RdmaOrTcpSocketChannel) TestTimeouts.sync(bootstrap.connect(address)).channel();
    }

    /** For {@link RdmaChannelOption#PROVIDERS}: what this process does not use, so that nothing is reached. */
    public static Set<VerbsProvider> unusedProvider() {
        Set<VerbsProvider> unused = EnumSet.allOf(VerbsProvider.class);
        VerbsApi.usable().forEach(verbs -> unused.remove(verbs.provider()));
        assumeFalse(unused.isEmpty(), "the process uses all providers");
        return unused;
    }

    /** A client of TCP. */
    public Channel connectTcp(InetSocketAddress address) throws InterruptedException {
        return TestTimeouts.sync(new Bootstrap().group(group).channel(EpollSocketChannel.class).handler(new Nothing())
                .connect(address)).channel();
    }

    public static void close(Channel channel) throws InterruptedException {
        TestTimeouts.sync(channel.close());
    }

    public static void assertRdma(RdmaOrTcpSocketChannel channel) {
        assertThat(channel.attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(RdmaOrTcpTransport.RDMA);
        assertThat(channel.transportChannel()).isInstanceOf(RdmaSocketChannel.class);
        assertThat(channel.isActive()).isTrue();
        assertThat(channel.attr(RdmaOrTcp.FALLBACK).get()).isNull();
    }

    public static void assertFallback(RdmaOrTcpSocketChannel channel, RdmaOrTcpFallback.Reason reason) {
        assertThat(channel.attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(RdmaOrTcpTransport.TCP);
        assertThat(channel.transportChannel()).isInstanceOfAny(EpollSocketChannel.class, NioSocketChannel.class);
        assertThat(channel.isActive()).isTrue();
        assertThat(channel.attr(RdmaOrTcp.FALLBACK).get()).extracting(RdmaOrTcpFallback::reason).isEqualTo(reason);
    }

    /** Nobody has connected to this server of TCP so far. */
    public void assertUntouched(EchoServer server) throws InterruptedException {
        Channel channel = connectTcp(server.address());
        assertThat(server.nextConnection().channel().remoteAddress()).isEqualTo(channel.localAddress());
        close(channel);
    }

    public static InetSocketAddress anyPort() {
        return (InetSocketAddress) RdmaSocketTestPermutation.newSocketAddress();
    }

    public EchoServer tcpServer(InetSocketAddress address) throws InterruptedException {
        return new EchoServer(group, EpollServerSocketChannel.class, address);
    }

    public EchoServer rdmaServer(InetSocketAddress address) throws InterruptedException {
        return new EchoServer(group, RdmaServerSocketChannel.class, address);
    }
}
