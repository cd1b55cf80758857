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
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.nio.channels.UnresolvedAddressException;

/** Failures of TCP, as the program is told of them. */
public final class Failures {
    private Failures() { }

    public static void main(String... args) throws Exception {
        boolean nio = args[0].equals("nio");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
                nio ? NioIoHandler.newFactory() : EpollIoHandler.newFactory());
        Class<? extends Channel> client = nio ? NioSocketChannel.class : EpollSocketChannel.class;
        Class<? extends ServerChannel> server = nio ? NioServerSocketChannel.class : EpollServerSocketChannel.class;
        Channel listener = Ends.bind(Ends.server(group, server));
        print("in use", Ends.server(group, server).bind(listener.localAddress()).await().cause());
        listener.close().sync();
        print("refused", Ends.client(group, client, new Ends.Counter(1)).connect(unused()).await().cause());
        print("unknown", Ends.client(group, client, new Ends.Counter(1)).disableResolver()
                .connect("host.invalid", 80).await().cause());
        Ends.end(group);
    }

    /** The address of a listener that is closed at once. One of NIO is closed in the next turn of its selector. */
    private static SocketAddress unused() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalSocketAddress();
        }
    }

    private static void print(String what, Throwable cause) {
        System.out.println(what + ": connect " + (cause instanceof ConnectException) + ", bind " +
                (cause instanceof BindException) + ", I/O " + (cause instanceof IOException) + ", unresolved " +
                (cause instanceof UnresolvedAddressException) + ", in use " +
                (cause.getMessage() != null && cause.getMessage().contains("Address already in use")) + ", refused " +
                (cause.getMessage() != null && cause.getMessage().contains("Connection refused")));
    }
}
