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
package unmodified;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.net.SocketAddress;

/** A server that ends and starts again at its port, and a client that does not find it meanwhile. */
public final class Restart {
    private Restart() { }

    public static void main(String... args) throws Exception {
        EventLoopGroup clients = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        EventLoopGroup servers = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        Channel listener = Ends.bind(Ends.server(servers, NioServerSocketChannel.class));
        SocketAddress address = listener.localAddress();
        Ends.exchange(clients, NioSocketChannel.class, listener);
        Channel left = Ends.client(clients, NioSocketChannel.class, new Ends.Counter(1)).connect(address).sync()
                .channel();
        Ends.end(servers);
        left.closeFuture().sync();
        System.out.println("connected: " + Ends.client(clients, NioSocketChannel.class, new Ends.Counter(1))
                .connect(address).await().isSuccess());
        servers = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        listener = Ends.server(servers, NioServerSocketChannel.class).bind(address).sync().channel();
        Ends.exchange(clients, NioSocketChannel.class, listener);
        Ends.end(servers, clients);
    }
}
