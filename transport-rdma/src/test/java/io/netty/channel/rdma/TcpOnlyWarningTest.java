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
package io.netty.channel.rdma;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.verbs.ChildJvm;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * TCP on event loops for RDMA: a mistake, if it is all that there is. Each case needs a process that has done nothing
 * before.
 */
class TcpOnlyWarningTest {
    private static final String WARNING = "EpollSocketChannel was registered with an event loop for RDMA";

    /** Uses event loops for RDMA as its argument says. */
    static final class User {
        private User() { }

        public static void main(String[] arguments) throws Exception {
            EventLoopGroup group = new RdmaEventLoopGroup(1);
            switch (arguments[0]) {
            case "tcp":
                connect(group, EpollServerSocketChannel.class, EpollSocketChannel.class);
                connect(group, EpollServerSocketChannel.class, EpollSocketChannel.class);
                break;
            case "rdma-or-tcp":
                connect(group, RdmaOrTcpServerSocketChannel.class, RdmaOrTcpSocketChannel.class);
                connect(group, EpollServerSocketChannel.class, RdmaOrTcpSocketChannel.class);
                break;
            case "beside-rdma":
                TestTimeouts.sync(new ServerBootstrap().group(group).channel(RdmaServerSocketChannel.class)
                        .childHandler(new ChannelInboundHandlerAdapter()).bind(TestAddress.anyPort()));
                connect(group, EpollServerSocketChannel.class, EpollSocketChannel.class);
                break;
            case "datagrams":
                TestTimeouts.sync(new Bootstrap().group(group).channel(EpollDatagramChannel.class)
                        .handler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress(0)));
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
            }
            TestTimeouts.shutdown(group);
        }

        private static void connect(EventLoopGroup group, Class<? extends ServerChannel> server,
                                    Class<? extends Channel> client) throws InterruptedException {
            Channel listener = TestTimeouts.sync(new ServerBootstrap().group(group).channel(server)
                    .childHandler(new ChannelInboundHandlerAdapter()).bind(TestAddress.anyPort())).channel();
            TestTimeouts.sync(new Bootstrap().group(group).channel(client)
                    .handler(new ChannelInboundHandlerAdapter()).connect(listener.localAddress()));
        }
    }

    @Test
    void tcpAloneIsWarnedOfOnceByName() throws Exception {
        String output = output("tcp");
        assertThat(output).containsOnlyOnce(WARNING).contains("RdmaSocketChannel", "RdmaOrTcpSocketChannel",
                "-Dio.netty.rdma.warnTcpOnly=false");
    }

    @Test
    void propertySilencesIt() throws Exception {
        assertThat(output("tcp", "io.netty.rdma.warnTcpOnly=false")).doesNotContain(WARNING);
    }

    @Test
    void whatIsMeantIsNotWarnedOf() throws Exception {
        for (String use : List.of("rdma-or-tcp", "beside-rdma", "datagrams")) {
            assertThat(output(use)).as(use).doesNotContain(WARNING);
        }
    }

    private static String output(String use, String... properties) throws Exception {
        try (ChildJvm child = new ChildJvm(User.class, List.of(properties), use)) {
            return child.output();
        }
    }
}
