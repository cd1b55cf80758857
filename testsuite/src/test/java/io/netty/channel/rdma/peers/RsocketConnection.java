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
package io.netty.channel.rdma.peers;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * One connection between our C program on rsockets and a channel, whichever is the client.
 */
final class RsocketConnection implements AutoCloseable {
    private final RsocketProcess peer;
    private final Channel listener;

    private RsocketConnection(RsocketProcess peer, Channel listener) {
        this.peer = peer;
        this.listener = listener;
    }

    /**
     * @param client   whether the C program is the client
     * @param options  of the C program, without {@code -o}
     * @param steps    what it does: see {@code src/test/c/peer.c}
     * @param autoRead of the channel
     * @param handlers of the channel
     */
    static RsocketConnection open(EventLoopGroup group, boolean client, String options, String steps, boolean autoRead,
                                  ChannelHandler... handlers) throws Exception {
        ChannelInitializer<Channel> initializer = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addLast(handlers);
            }
        };
        if (client) {
            Channel listener = TestTimeouts.sync(new ServerBootstrap().group(group)
                    .channel(RdmaServerSocketChannel.class).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                    .childOption(ChannelOption.AUTO_READ, autoRead).childHandler(initializer)
                    .bind(RdmaSocketTestPermutation.newSocketAddress())).channel();
            return new RsocketConnection(RsocketProcess.peerClient((InetSocketAddress) listener.localAddress(),
                    options, steps), listener);
        }
        RsocketProcess server = RsocketProcess.peerServer(options, steps);
        boolean connected = false;
        try {
            TestTimeouts.sync(new Bootstrap().group(group).channel(RdmaSocketChannel.class)
                    .option(ChannelOption.ALLOW_HALF_CLOSURE, true).option(ChannelOption.AUTO_READ, autoRead)
                    .handler(initializer).connect(server.address()));
            connected = true;
            return new RsocketConnection(server, null);
        } finally {
            if (!connected) {
                server.close();
            }
        }
    }

    RsocketProcess peer() {
        return peer;
    }

    @Override
    public void close() {
        peer.close();
        if (listener != null) {
            listener.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS);
        }
    }
}
