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

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.rdma.RdmaProvidersTest.Application;
import io.netty.channel.rdma.metrics.RdmaConnectMetrics;
import io.netty.channel.rdma.metrics.RdmaDeviceMetrics;
import io.netty.channel.rdma.metrics.RdmaProviderChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChannelOption;
import io.netty.channel.rdma.ortcp.RdmaOrTcpMetrics;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.socket.SocketChannel;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.verbs.VerbsProvider.EMBEDDED;
import static io.netty.channel.rdma.verbs.VerbsProvider.IBVERBS;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * One process serves a peer by shared memory, one by a device and one by TCP, at one port at the same time, and its
 * metrics tell them apart.
 */
@Tag("rxe-quick")
class EveryProviderTest {
    @Test
    void oneServerHasPeersByEveryProviderAndByTcpAtOnePort() throws Exception {
        try (ChildJvm child = ChildJvm.withBothProviders(Server.class, RdmaProvidersTest.PROPERTIES)) {
            assertThat(child.output()).endsWith("done\n");
        }
    }

    /** The server, and its peers. */
    static final class Server {
        private Server() { }

        public static void main(String[] arguments) throws Exception {
            Application.run(Server::run);
        }

        private static void run(Application application) throws Exception {
            application.bind(RdmaOrTcpServerSocketChannel.class);
            List<SocketChannel> channels = List.of(connect(application, EMBEDDED), connect(application, IBVERBS),
                    (SocketChannel) application.client(EpollSocketChannel.class).connect(application.address()).sync()
                            .channel());
            for (int round = 0; round < 3; round++) {
                for (SocketChannel channel : channels) {
                    application.echo(channel);
                }
            }
            assertThat(channels.get(2).remoteAddress().getPort()).isEqualTo(application.address().getPort());
            RdmaConnectMetrics connects = RdmaConnectMetrics.total();
            RdmaOrTcpMetrics transports = RdmaOrTcpMetrics.total();
            for (VerbsProvider provider : VerbsProvider.values()) {
                assertThat(connects.connects(provider, RdmaProviderChoice.Reason.OPTION)).as("connects by %s", provider)
                        .isOne();
                assertThat(RdmaDeviceMetrics.all().stream().filter(device -> device.provider()
                        .equals(VerbsApi.of(provider).toString())).mapToLong(RdmaDeviceMetrics::accepts).sum())
                        .as("accepts by %s", provider).isOne();
            }
            assertThat(transports.connects(RdmaOrTcpTransport.RDMA)).isEqualTo(2);
            assertThat(transports.accepts(RdmaOrTcpTransport.RDMA)).isEqualTo(2);
            assertThat(transports.accepts(RdmaOrTcpTransport.TCP)).isOne();
        }

        private static SocketChannel connect(Application application, VerbsProvider provider) throws Exception {
            return (SocketChannel) application.client(RdmaOrTcpSocketChannel.class)
                    .option(RdmaChannelOption.PROVIDERS, Set.of(provider))
                    .option(RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS,
                            (int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS))
                    .connect(application.address()).sync().channel();
        }
    }
}
