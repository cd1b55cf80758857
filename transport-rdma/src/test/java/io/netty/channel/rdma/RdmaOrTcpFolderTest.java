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
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChannelOption;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFallback;
import io.netty.channel.rdma.ortcp.RdmaOrTcpMetrics;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.channel.rdma.verbs.ChildJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A client and a server for RDMA and TCP in network namespaces of their own, with a network between them (veth(4)): as
 * two containers. The client has a folder; it depends on the server's whether they meet there.
 */
class RdmaOrTcpFolderTest {
    private static final int PORT = 8080;
    private static final String SERVER = "10.77.0.1";
    private static final String CLIENT = "10.77.0.2";
    private static final String EMBEDDED = "io.netty.rdma.provider=embedded";
    private static final String FOLDER = "io.netty.rdma.embedded.folder=";

    /** Listens at the wildcard address, until it is killed. */
    static final class Server {
        private Server() { }

        public static void main(String[] arguments) throws Exception {
            new ServerBootstrap().group(RdmaOrTcp.newEventLoopGroup(1))
                    .channel(RdmaOrTcpServerSocketChannel.class).childHandler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public boolean isSharable() {
                            return true;
                        }
                    }).bind(new InetSocketAddress(PORT)).sync();
            System.out.println("process " + ProcessHandle.current().pid());
        }
    }

    /** Connects twice, and tells how. */
    static final class Client {
        private Client() { }

        private static void tell(String name, Channel channel) throws Exception {
            System.out.println(name + ' ' + channel.attr(RdmaOrTcp.TRANSPORT).get() + ' ' +
                    channel.attr(RdmaOrTcp.FALLBACK).get());
            channel.close().sync();
        }

        public static void main(String[] arguments) throws Exception {
            EventLoopGroup group = new RdmaEventLoopGroup(1);
            try {
                InetSocketAddress server = new InetSocketAddress(SERVER, PORT);
                for (String name : List.of("first", "second")) {
                    tell(name, TestTimeouts.sync(new Bootstrap().group(group).channel(RdmaOrTcpSocketChannel.class)
                            .option(RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS,
                                    (int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS))
                            .handler(new ChannelInboundHandlerAdapter()).connect(server)).channel());
                }
            } catch (Throwable t) {
                t.printStackTrace();
                // The event loops would keep the process.
                System.exit(1);
            }
            TestTimeouts.shutdown(group);
            RdmaOrTcpMetrics metrics = RdmaOrTcpMetrics.total();
            Arrays.stream(RdmaOrTcpTransport.values()).filter(transport -> metrics.connects(transport) > 0)
                    .forEach(transport -> System.out.println(
                            "connects " + transport + ' ' + metrics.connects(transport)));
            Arrays.stream(RdmaOrTcpFallback.Reason.values()).filter(reason -> metrics.fallbacks(reason) > 0)
                    .forEach(reason -> System.out.println("fallbacks " + reason + ' ' + metrics.fallbacks(reason)));
            System.out.println("done");
        }
    }

    private static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }

    /** A command that runs another one in a network namespace of its own, which its root may change. */
    private static List<String> serverNetwork() throws Exception {
        List<String> command = new ArrayList<>(List.of("unshare", "--net"));
        if (!isRoot()) {
            command.addAll(List.of("--user", "--map-root-user"));
        }
        List<String> check = new ArrayList<>(command);
        check.addAll(List.of("ip", "link", "add", "type", "veth"));
        assumeTrue(new ProcessBuilder(check).start().waitFor() == 0, "needs network namespaces and veth(4)");
        command.addAll(List.of("sh", "-ec", "ip link set lo up; exec \"$@\"", "sh"));
        return command;
    }

    /** The same in another one, which has a network with that of the server. */
    private static List<String> clientNetwork(String serverProcess) {
        List<String> command = new ArrayList<>();
        if (!isRoot()) {
            // Only who is root in the user namespace of both may put a device into either.
            command.addAll(List.of("nsenter", "--target", serverProcess, "--user", "--preserve-credentials"));
        }
        command.addAll(List.of("unshare", "--net", "sh", "-ec", "ip link set lo up; " +
                "ip link add client type veth peer name server netns " + serverProcess + "; " +
                "ip address add " + CLIENT + "/24 dev client; ip link set client up; " +
                "nsenter --target " + serverProcess + " --net sh -ec 'ip address add " + SERVER +
                "/24 dev server; ip link set server up'; exec \"$@\"", "sh"));
        return command;
    }

    private static String clientOf(List<String> serverProperties, Path clientFolder) throws Exception {
        try (ChildJvm server = new ChildJvm(serverNetwork(), Server.class, serverProperties)) {
            List<String> network = clientNetwork(server.line("process"));
            try (ChildJvm client = new ChildJvm(network, Client.class, List.of(EMBEDDED, FOLDER + clientFolder))) {
                return client.output();
            }
        }
    }

    @Test
    void withOneFolderTheyMeetInIt(@TempDir Path folder) throws Exception {
        assertThat(clientOf(List.of(EMBEDDED, FOLDER + folder), folder).lines())
                .containsExactly("first RDMA null", "second RDMA null", "connects RDMA 2", "done");
    }

    @ParameterizedTest
    @ValueSource(strings = { EMBEDDED, FOLDER, "io.netty.rdma.provider=none" })
    void whereTheServerIsNotInTheClientsFolderTcpIsTakenAndTheReasonTold(String property, @TempDir Path folder)
            throws Exception {
        List<String> properties = property.equals(FOLDER)
                ? List.of(EMBEDDED, FOLDER + Files.createDirectory(folder.resolve("server"))) : List.of(property);
        List<String> told = clientOf(properties, Files.createDirectory(folder.resolve("client"))).lines()
                .filter(line -> !line.contains(" INFO ")).toList();
        assertThat(told).hasSize(6);
        assertThat(told.get(0)).startsWith("first TCP NO_ROUTE: ").contains(SERVER);
        assertThat(told.get(1)).startsWith("second TCP REMEMBERED: ").contains(" ms ago: NO_ROUTE: ");
        assertThat(told.subList(2, 6)).containsExactly("connects TCP 2", "fallbacks NO_ROUTE 1",
                "fallbacks REMEMBERED 1", "done");
    }
}
