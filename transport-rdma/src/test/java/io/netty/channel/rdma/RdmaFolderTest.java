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
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Two processes in network namespaces of their own, made by unshare(1), that share a folder
 * ({@code io.netty.rdma.embedded.folder}): as containers with a volume in common.
 */
class RdmaFolderTest {
    private static final int PORT = 8080;
    private static final String SERVER = "10.77.0.1";
    private static final String CLIENT = "10.77.0.2";

    /** Echoes at the wildcard address. */
    static final class Server {
        private Server() { }

        public static void main(String[] arguments) throws Exception {
            new ServerBootstrap().group(new RdmaEventLoopGroup(1)).channel(RdmaServerSocketChannel.class)
                    .childHandler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public boolean isSharable() {
                            return true;
                        }

                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object msg) {
                            ctx.writeAndFlush(msg);
                        }
                    }).bind(PORT).sync();
            System.out.println("listening now");
        }
    }

    /** Connects in both ways, and to where nobody is. */
    static final class Client extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            answers.add(((ByteBuf) msg).toString(StandardCharsets.US_ASCII));
            ((ByteBuf) msg).release();
        }

        private void echo(Channel channel, String text) throws Exception {
            channel.writeAndFlush(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII)).sync();
            assertThat(answers.poll(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isEqualTo(text);
        }

        private void run(EventLoopGroup group) throws Exception {
            InetSocketAddress server = new InetSocketAddress(SERVER, PORT);
            Bootstrap bootstrap = new Bootstrap().group(group).channel(RdmaSocketChannel.class).handler(this);
            Channel channel = bootstrap.connect(server).sync().channel();
            System.out.println("provider " + ((RdmaSocketChannel) channel).info().sync().getNow().provider());
            System.out.println("local " + ((InetSocketAddress) channel.localAddress()).getHostString());
            echo(channel, "by RDMA");
            channel.close().sync();
            channel = new Bootstrap().group(group).channel(RdmaOrTcpSocketChannel.class).handler(this).connect(server)
                    .sync().channel();
            System.out.println("transport " + channel.attr(RdmaOrTcp.TRANSPORT).get());
            echo(channel, "by either");
            channel.close().sync();
            for (String other : new String[] {"10.77.0.3", CLIENT, "127.0.0.1"}) {
                Throwable cause = bootstrap.connect(other, PORT).await().cause();
                assertThat(cause).isInstanceOf(SocketException.class);
            }
        }

        public static void main(String[] arguments) throws Exception {
            EventLoopGroup group = new RdmaEventLoopGroup(1);
            try {
                new Client().run(group);
            } catch (Throwable t) {
                t.printStackTrace();
                // The event loops would keep the process.
                System.exit(1);
            }
            TestTimeouts.shutdown(group);
            System.out.println("done");
        }
    }

    /** Looks twice at a time for an address that nobody has, and tells which limit has ended one first. */
    static final class Seeker {
        private Seeker() { }

        public static void main(String[] arguments) throws Exception {
            BlockingQueue<Integer> ended = new LinkedBlockingQueue<>();
            Bootstrap bootstrap = new Bootstrap().group(new RdmaEventLoopGroup(1)).channel(RdmaMessageChannel.class)
                    .handler(new Client());
            for (int millis : new int[] {60_000, 1}) {
                bootstrap.option(RdmaChannelOption.RESOLVE_TIMEOUT_MILLIS, millis).connect("10.77.0.3", PORT)
                        .addListener(future -> ended.add(millis));
            }
            System.out.println("first " + ended.take());
            System.exit(0);
        }
    }

    /** A command that runs another one in a network namespace with this address and a route to all others. */
    private static List<String> network(String address) throws Exception {
        List<String> command = new ArrayList<>(List.of("unshare", "--net"));
        if (!"root".equals(System.getProperty("user.name"))) {
            command.addAll(List.of("--user", "--map-root-user"));
        }
        List<String> check = new ArrayList<>(command);
        check.add("true");
        assumeTrue(new ProcessBuilder(check).start().waitFor() == 0, "needs network namespaces");
        command.addAll(List.of("sh", "-ec", "ip link set lo up; ip address add " + address + "/32 dev lo; " +
                "ip route add default dev lo; exec \"$@\"", "sh"));
        return command;
    }

    @Test
    void processesOfTwoNetworkNamespacesMeetInAFolder(@TempDir Path folder) throws Exception {
        List<String> properties = List.of("io.netty.rdma.provider=embedded",
                "io.netty.rdma.embedded.folder=" + folder);
        try (ChildJvm server = new ChildJvm(network(SERVER), Server.class, properties)) {
            assertThat(server.line("listening")).isEqualTo("now");
            try (ChildJvm client = new ChildJvm(network(CLIENT), Client.class, properties)) {
                assertThat(client.output()).contains("provider EMBEDDED", "local " + CLIENT, "transport RDMA", "done");
            }
        }
    }

    @Test
    void searchForAnAddressEndsWhenTheOptionSays(@TempDir Path folder) throws Exception {
        List<String> properties = List.of("io.netty.rdma.provider=embedded",
                "io.netty.rdma.embedded.folder=" + folder);
        try (ChildJvm server = new ChildJvm(network(SERVER), Server.class, properties)) {
            assertThat(server.line("listening")).isEqualTo("now");
            // The server is asked, and does not answer.
            server.signal("STOP");
            try (ChildJvm seeker = new ChildJvm(network(CLIENT), Seeker.class, properties)) {
                assertThat(seeker.line("first")).isEqualTo("1");
            }
        }
    }

    @Test
    void theFolderIsTriedBeforeTheDevice(@TempDir Path folder) throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED,
                "needs a device in each network namespace");
        List<String> properties = List.of("io.netty.rdma.provider=auto", "io.netty.rdma.embedded.folder=" + folder,
                "io.netty.rdma.maxPinnedMemory=" + (256 << 20));
        try (ChildJvm server = ChildJvm.withBothProviders(network(SERVER), Server.class, properties)) {
            assertThat(server.line("listening")).isEqualTo("now");
            try (ChildJvm client = ChildJvm.withBothProviders(network(CLIENT), Client.class, properties)) {
                assertThat(client.output()).contains("provider EMBEDDED", "local " + CLIENT, "transport RDMA", "done");
            }
        }
    }
}
