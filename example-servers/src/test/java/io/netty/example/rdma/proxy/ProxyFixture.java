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
package io.netty.example.rdma.proxy;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.proxy.ProxySettings.Listen;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;

/**
 * A proxy in this process, the server behind it, and clients, which have event loops of their own.
 */
final class ProxyFixture implements AutoCloseable {
    private static final int CONNECT_MILLIS = 10_000 * TestTimeouts.MULTIPLIER;

    private final Route route;
    // Event loops of RDMA serve TCP, too.
    private final EventLoopGroup proxyGroup = Transport.RDMA.newGroup(1, Waiting.DEFAULT);
    private final EventLoopGroup peerGroup = Transport.RDMA.newGroup(1, Waiting.DEFAULT);
    private final BlockingQueue<Peer> accepted = new LinkedBlockingQueue<>();
    private Channel server;
    private Proxy proxy;
    private boolean quiet = true;

    /**
     * Way of connections.
     *
     * @param client how clients reach the proxy
     * @param server how the proxy reaches the server
     */
    record Route(Transport client, Transport server) {
        ProxyTransport listens() {
            return transport(client);
        }

        ProxyTransport connects() {
            return transport(server);
        }

        private static ProxyTransport transport(Transport transport) {
            return transport == Transport.RDMA ? ProxyTransport.RDMA : ProxyTransport.TCP;
        }
    }

    ProxyFixture(Route route) {
        this.route = route;
    }

    /** The proxy that will be started logs each connection. */
    ProxyFixture logged() {
        quiet = false;
        return this;
    }

    /** Peers behind the proxy. */
    ProxyFixture start() throws Exception {
        return start(() -> new Peer(accepted::add), 0);
    }

    /** As above, with other handlers behind the proxy, and connections that may be idle for so long (0: for ever). */
    ProxyFixture start(Supplier<ChannelHandler> handlers, long idleMillis) throws Exception {
        server = TestTimeouts.sync(new ServerBootstrap()
                .group(peerGroup)
                .channel(route.server().serverChannelType())
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(handlers.get());
                    }
                })
                .bind(TestAddress.anyPort())).channel();
        return startProxy((InetSocketAddress) server.localAddress(), route.connects(), idleMillis);
    }

    /** The proxy alone. */
    ProxyFixture startProxy(InetSocketAddress to, ProxyTransport transport, long idleMillis) throws Exception {
        proxy = Proxy.start(proxyGroup, new ProxySettings(
                new Listen(route.listens(), new HostAndPort(TestAddress.HOST, 0)), to, transport, CONNECT_MILLIS,
                idleMillis, quiet));
        return this;
    }

    Peer connect() throws InterruptedException {
        Peer peer = new Peer(connected -> { });
        connect(peer);
        return peer;
    }

    void connect(ChannelHandler handler) throws InterruptedException {
        TestTimeouts.sync(beginConnect(handler));
    }

    ChannelFuture beginConnect(ChannelHandler handler) {
        return new Bootstrap()
                .group(peerGroup)
                .channel(route.client().channelType())
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .handler(handler)
                .connect(proxy.address());
    }

    /** The server's end of the next connection. */
    Peer accepted() throws InterruptedException {
        return TestTimeouts.take(accepted, "a connection of the proxy to the server");
    }

    /** The only connection that there is. */
    Tunnel tunnel() throws InterruptedException {
        TestTimeouts.awaitTrue(() -> proxy.tunnels().size() == 1);
        return proxy.tunnels().iterator().next();
    }

    /** Where the server is that is behind the proxy. */
    InetSocketAddress serverAddress() {
        return (InetSocketAddress) server.localAddress();
    }

    Proxy proxy() {
        return proxy;
    }

    /** Where nobody listens: the kernel gives a port that is free to the next one that asks much later. */
    static InetSocketAddress freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return new InetSocketAddress(TestAddress.HOST, socket.getLocalPort());
        }
    }

    void awaitNoConnections() throws InterruptedException {
        TestTimeouts.awaitTrue(() -> proxy.counters().open() == 0 && proxy.tunnels().isEmpty());
    }

    @Override
    public void close() {
        try {
            if (proxy != null) {
                proxy.stop();
            }
            if (server != null) {
                TestTimeouts.sync(server.close());
            }
            TestTimeouts.shutdown(proxyGroup);
            TestTimeouts.shutdown(peerGroup);
        } catch (InterruptedException e) {
            // The time of the test is over.
            Thread.currentThread().interrupt();
        }
    }
}
