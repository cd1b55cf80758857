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
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFailures;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.channel.rdma.verbs.VerbsApi;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Log lines at info level of servers and clients for RDMA and TCP. In a process of its own, because lines are limited
 * and logged once.
 */
class RdmaOrTcpLogTest {
    @Sharable
    private static final class Nothing extends ChannelInboundHandlerAdapter { }

    /** A few servers, and connects to one of TCP, which gets RDMA in the end. */
    static final class Application {
        private static final EventLoopGroup GROUP = RdmaOrTcp.newEventLoopGroup(1);

        private Application() { }

        private static Channel bind(Class<? extends ServerChannel> type, SocketAddress address) throws Exception {
            return TestTimeouts.sync(new ServerBootstrap().group(GROUP).channel(type).childHandler(new Nothing())
                    .bind(address)).channel();
        }

        private static Bootstrap client() {
            return new Bootstrap().group(GROUP).channel(RdmaOrTcpSocketChannel.class).handler(new Nothing());
        }

        public static void main(String[] arguments) throws Exception {
            bind(RdmaOrTcpServerSocketChannel.class, TestAddress.anyPort());
            for (RdmaOrTcpChoice choice : List.of(RdmaOrTcpChoice.RDMA_ONLY, RdmaOrTcpChoice.TCP_ONLY)) {
                TestTimeouts.sync(new ServerBootstrap().group(GROUP)
                        .channelFactory(() -> new RdmaOrTcpServerSocketChannel(RdmaOrTcpRule.always(choice)))
                        .childHandler(new Nothing()).bind(TestAddress.anyPort()));
            }
            InetSocketAddress address = (InetSocketAddress) bind(EpollServerSocketChannel.class,
                    TestAddress.anyPort()).localAddress();
            for (int i = 0; i < 3; i++) {
                // The second one is remembered, the third one is not, for the same reason.
                TestTimeouts.sync(client().connect(address));
                RdmaOrTcpFailures.shared().clear();
            }
            TestTimeouts.sync(client().option(RdmaChannelOption.DEVICE, "none0").connect(address));
            bind(RdmaServerSocketChannel.class, address);
            for (int i = 0; i < 2; i++) {
                TestTimeouts.sync(client().connect(address));
            }
            TestTimeouts.shutdown(GROUP);
        }
    }

    @Test
    void serversSayWhatTheyListenForAndClientsWhatChanges() throws Exception {
        String provider = VerbsApi.preferred().toString();
        try (ChildJvm child = new ChildJvm(Application.class, List.of())) {
            List<String> lines = child.output().lines().filter(
                    line -> line.matches("\\S+ INFO +\\[\\S+\\] i\\.n\\.c\\.r\\..*")).toList();
            assertThat(lines).hasSize(6);
            assertThat(lines.get(0)).contains("RdmaOrTcpServerSocketChannel").endsWith("listens for RDMA (" +
                    provider + ") and TCP");
            assertThat(lines.get(1)).endsWith("listens for RDMA (" + provider + ") alone, as its rule says");
            assertThat(lines.get(2)).endsWith("listens for TCP alone, as its rule says");
            assertThat(lines.get(3)).contains("connected over TCP in ", "(RDMA: REFUSED: Connection refused");
            assertThat(lines.get(4)).contains("connected over TCP in ", "(RDMA: NO_ROUTE: ", "none0");
            assertThat(lines.get(5)).contains("connected over RDMA in ");
        }
    }
}
