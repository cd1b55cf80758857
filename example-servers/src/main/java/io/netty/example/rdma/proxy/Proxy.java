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

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.socket.SocketChannel;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * A proxy that listens. Any thread may use it, except those of its event loops.
 */
public final class Proxy {
    private static final int STOP_SECONDS = 5;

    private final ProxySettings settings;
    private final ProxyCounters counters = new ProxyCounters();
    private final Set<Tunnel> tunnels = ConcurrentHashMap.newKeySet();
    private Channel listener;

    private Proxy(ProxySettings settings) {
        this.settings = settings;
    }

    /**
     * Starts to listen.
     *
     * @param group event loops for the channels of all transports that the settings name
     */
    public static Proxy start(EventLoopGroup group, ProxySettings settings)
            throws IOException, InterruptedException {
        settings.check();
        Proxy proxy = new Proxy(settings);
        RdmaOrTcpRule rule = RdmaOrTcpRule.always(settings.listen().transport().choice());
        proxy.listener = new ServerBootstrap()
                .group(group)
                .channelFactory(() -> new RdmaOrTcpServerSocketChannel(rule))
                // Nothing is read until there is a connection to the server.
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, Tunnel.WATER_MARK)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        proxy.accept(channel);
                    }
                })
                .bind(settings.listen().address().resolve()).sync().channel();
        return proxy;
    }

    private void accept(SocketChannel channel) {
        Tunnel tunnel = new Tunnel(channel, settings, counters);
        tunnels.add(tunnel);
        tunnel.endFuture().addListener(ended -> tunnels.remove(tunnel));
    }

    /** Address where the proxy listens. */
    public InetSocketAddress address() {
        return (InetSocketAddress) listener.localAddress();
    }

    public ProxyCounters counters() {
        return counters;
    }

    /** The open connections. */
    Set<Tunnel> tunnels() {
        return tunnels;
    }

    /**
     * Stops listening, and resets the connections, so that no peer takes the end of the proxy for the end of the data.
     * Returns when all connections are closed.
     */
    public void stop() throws InterruptedException {
        listener.close().sync();
        for (Tunnel tunnel : tunnels) {
            tunnel.reset();
        }
        for (Tunnel tunnel : tunnels) {
            tunnel.endFuture().await(STOP_SECONDS, TimeUnit.SECONDS);
        }
    }
}
