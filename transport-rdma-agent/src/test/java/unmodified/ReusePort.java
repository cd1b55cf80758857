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

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;

/**
 * Listeners that share a port. With a port as argument it shares that one with another process, connects and ends; with
 * the word {@code wait} it prints the port and waits for the end of its input.
 */
public final class ReusePort {
    private ReusePort() { }

    public static void main(String... args) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, EpollIoHandler.newFactory());
        ServerBootstrap bootstrap = Ends.server(group, EpollServerSocketChannel.class)
                .option(EpollChannelOption.SO_REUSEPORT, true);
        boolean waits = args[0].equals("wait");
        Channel first = bootstrap.bind("127.0.0.1", waits ? 0 : Integer.parseInt(args[0])).sync().channel();
        if (waits) {
            System.out.println("port " + Ends.port(first));
            while (System.in.read() >= 0) {
                continue;
            }
        } else {
            for (int i = 0; i < 3; i++) {
                System.out.println("bound: " + bootstrap.bind(first.localAddress()).sync().isSuccess());
            }
            for (int i = 0; i < 4; i++) {
                Ends.exchange(group, EpollSocketChannel.class, first);
            }
        }
        Ends.end(group);
    }
}
