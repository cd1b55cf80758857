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
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;

/** Peers that are no programs on Netty. */
public final class Peers {
    private Peers() { }

    public static void main(String... args) throws Exception {
        boolean nio = args[0].equals("nio");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
                nio ? NioIoHandler.newFactory() : EpollIoHandler.newFactory());
        try {
            Channel listener = Ends.bind(Ends.server(group,
                    nio ? NioServerSocketChannel.class : EpollServerSocketChannel.class));
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), Ends.port(listener))) {
                socket.getOutputStream().write(new byte[10]);
                System.out.println("client: " + socket.getInputStream().readNBytes(10).length);
            }
            try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                Ends.Counter counter = new Ends.Counter(10);
                Channel client = Ends.client(group, nio ? NioSocketChannel.class : EpollSocketChannel.class, counter)
                        .connect(server.getLocalSocketAddress()).sync().channel();
                client.writeAndFlush(client.alloc().buffer().writeBytes(new byte[10]));
                try (Socket accepted = server.accept()) {
                    accepted.getOutputStream().write(accepted.getInputStream().readNBytes(10));
                    System.out.println("server: " + counter.done.await(Ends.SECONDS, TimeUnit.SECONDS));
                }
            }
        } finally {
            Ends.end(group);
        }
    }
}
