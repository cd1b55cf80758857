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
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Mistakes in how a process is started, or in its program, after which it would do without RDMA, or not work: the log
 * says what is wrong, once. Each case needs a process that has done nothing before.
 */
class RdmaMistakesTest {
    private static final String CLIENTS = "Clients for RDMA and TCP connect over TCP: ";

    @Sharable
    private static final class Nothing extends ChannelInboundHandlerAdapter { }

    /** A server and two clients for RDMA and TCP, on event loops as its argument says. */
    static final class Both {
        private Both() { }

        public static void main(String[] arguments) throws Exception {
            EventLoopGroup group = arguments.length == 0 ? RdmaOrTcp.newEventLoopGroup(1) :
                    new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
            Channel server = TestTimeouts.sync(new ServerBootstrap().group(group)
                    .channel(RdmaOrTcpServerSocketChannel.class).childHandler(new Nothing())
                    .bind(TestAddress.anyPort())).channel();
            for (int i = 0; i < 2; i++) {
                TestTimeouts.sync(new Bootstrap().group(group).channel(RdmaOrTcpSocketChannel.class)
                        .handler(new Nothing()).connect(server.localAddress()));
            }
            TestTimeouts.shutdown(group);
        }
    }

    /** Channels of RDMA on event loops of epoll. */
    static final class WrongLoop {
        private WrongLoop() { }

        public static void main(String[] arguments) throws Exception {
            EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
            for (int i = 0; i < 2; i++) {
                ChannelFuture connecting = new Bootstrap().group(group).channel(RdmaSocketChannel.class)
                        .handler(new Nothing()).connect(new InetSocketAddress("127.0.0.1", 7));
                System.out.println("failure " + TestTimeouts.await(connecting).cause());
            }
            TestTimeouts.shutdown(group);
        }
    }

    /** Connects to a server of its own, and tells what comes of it. */
    static final class RdmaAlone {
        private RdmaAlone() { }

        public static void main(String[] arguments) throws Exception {
            System.out.println("maximum " + RdmaMetrics.maxPinnedMemory());
            EventLoopGroup group = new RdmaEventLoopGroup(1);
            Channel server = TestTimeouts.sync(new ServerBootstrap().group(group)
                    .channel(RdmaServerSocketChannel.class).childHandler(new Nothing())
                    .bind(TestAddress.anyPort())).channel();
            System.out.println("cause " + TestTimeouts.await(new Bootstrap().group(group)
                    .channel(RdmaSocketChannel.class).handler(new Nothing()).connect(server.localAddress())).cause());
            TestTimeouts.shutdown(group);
        }
    }

    /** Log lines of this project's packages, in the format of logback-test.xml. */
    private static List<String> lines(String output, String level) {
        return output.lines().filter(line -> line.matches("\\S+ " + level + " +\\[\\S+\\] i\\.n\\.c\\.r\\..*"))
                .toList();
    }

    /** One line of the server, and one of all clients. */
    private static void assertWarned(String output, String... why) {
        assertThat(lines(output, "WARN")).hasSize(2);
        assertThat(lines(output, "WARN").get(0))
                .contains("listens for TCP alone, as RDMA is not available: ").contains(why);
        assertThat(lines(output, "WARN").get(1)).contains(CLIENTS).contains(why);
        assertThat(lines(output, "INFO")).isEmpty();
    }

    @Test
    void providerThatIsMisspelt() throws Exception {
        try (ChildJvm child = new ChildJvm(Both.class, List.of("io.netty.rdma.provider=foo"))) {
            assertWarned(child.output(), "io.netty.rdma.provider=foo: expected auto, ibverbs or embedded");
        }
    }

    @Test
    void providerThatHasNoDevice() throws Exception {
        assumeTrue(VerbsApi.preferred().provider() != VerbsProvider.IBVERBS, "there is one");
        try (ChildJvm child = new ChildJvm(Both.class, List.of("io.netty.rdma.provider=ibverbs"))) {
            assertWarned(child.output(), "verbs provider ibverbs: ");
        }
    }

    @Test
    void nativeJarThatIsMissing() throws Exception {
        try (ChildJvm child = ChildJvm.without("netty-transport-native-rdma", Both.class)) {
            assertWarned(child.output(), "add netty-transport-native-rdma with the classifier of this platform");
        }
    }

    @Test
    void jarOfEpollThatIsMissing() throws Exception {
        try (ChildJvm child = ChildJvm.without("netty-transport-native-epoll", Both.class)) {
            assertWarned(child.output(), "add netty-transport-native-epoll with the classifier of this platform");
        }
    }

    @Test
    void loopsThatServeNoRdma() throws Exception {
        try (ChildJvm child = new ChildJvm(Both.class, List.of(), "epoll")) {
            assertWarned(child.output(), "don't serve RDMA channels: use RdmaOrTcp.newEventLoopGroup()");
        }
    }

    /** The user has disabled them, which is no mistake. */
    @Test
    void nativeTransportsThatAreDisabledAreNoMistake() throws Exception {
        try (ChildJvm child = new ChildJvm(Both.class, List.of("io.netty.transport.noNative=true"))) {
            String output = child.output();
            assertThat(lines(output, "WARN")).isEmpty();
            assertThat(lines(output, "INFO")).hasSize(2).allMatch(line -> line.contains("noNative=true"));
        }
    }

    @Test
    void channelOfRdmaOnOtherLoops() throws Exception {
        try (ChildJvm child = new ChildJvm(WrongLoop.class, List.of())) {
            String output = child.output();
            assertThat(output).contains("failure java.lang.IllegalStateException: incompatible event loop type");
            assertThat(lines(output, "WARN")).singleElement().asString().contains("RdmaSocketChannel can't be " +
                    "registered with ", "RdmaEventLoopGroup", "RdmaOrTcp.newEventLoopGroup()");
        }
    }

    @Test
    void temporaryFolderThatCannotBeWrittenTo() throws Exception {
        // Nobody can make files there, not even root.
        try (ChildJvm child = new ChildJvm(Both.class, List.of("io.netty.native.workdir=/proc"))) {
            String output = child.output();
            assertWarned(output, "cannot load netty_transport_native_rdma_", "NoSuchFileException: /proc/",
                    "-Dio.netty.native.workdir names another folder");
            assertThat(output).doesNotContain("add netty-transport-native-rdma");
        }
    }

    @Test
    void tooLittleMemorySaysHowMuchIsNeeded() throws Exception {
        // As by -XX:MaxDirectMemorySize, of which it is half.
        try (ChildJvm child = new ChildJvm(RdmaAlone.class, List.of("io.netty.maxDirectMemory=" + (32 << 20)))) {
            assertThat(child.output()).contains("maximum " + (16 << 20), "at least 17 MiB are needed",
                    "-XX:MaxDirectMemorySize=34m");
        }
        try (ChildJvm child = new ChildJvm(RdmaAlone.class, List.of("io.netty.maxDirectMemory=" + (34 << 20)))) {
            assertThat(child.output()).contains("cause null");
        }
    }

    @Test
    void sizesHaveSuffixesAsOptionsOfTheVirtualMachineHave() throws Exception {
        try (ChildJvm child = new ChildJvm(RdmaAlone.class, List.of("io.netty.rdma.maxPinnedMemory=64M",
                "io.netty.rdma.maxStagingMemory=16777216"))) {
            assertThat(child.output()).contains("maximum " + (64 << 20), "cause null");
        }
        try (ChildJvm child = new ChildJvm(RdmaAlone.class, List.of("io.netty.rdma.maxPinnedMemory=64 MB"))) {
            String output = child.output();
            assertThat(lines(output, "WARN")).singleElement().asString()
                    .contains("-Dio.netty.rdma.maxPinnedMemory=64 MB is no size", "suffix k, m or g");
        }
    }
}
