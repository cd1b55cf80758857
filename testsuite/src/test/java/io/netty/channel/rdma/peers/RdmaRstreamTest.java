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
package io.netty.channel.rdma.peers;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.peers.RstreamHandler.Counters;
import io.netty.channel.rdma.peers.RstreamHandler.Transfers;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;
import io.netty.util.concurrent.Promise;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The distribution's own {@code rstream}, on librdmacm's own rsockets, at the other end. Both sides send, and check
 * every byte ({@code -T v}).
 */
@Tag("iwarp")
class RdmaRstreamTest {
    private static final String RSTREAM = "/usr/bin/rstream";

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    @BeforeAll
    static void assumeInstalled() {
        RsocketProcess.assumeInstalled(RSTREAM, "rdmacm-utils");
    }

    /** {@code -T}: b blocking, n nonblocking, a with poll, r the address by RDMA CM; {@code -k}: keep-alive. */
    @ParameterizedTest
    @ValueSource(strings = {
            "-T b -S 1 -C 1000 -I 2", "-T b -S 1 -C 1 -I 200",
            "-T n -S 64 -C 1 -I 50", "-T a -S 64 -C 1 -I 50", "-T b -T a -S 64 -C 1 -I 200",
            "-T b -S 65 -C 1000 -I 2", "-T n -S 4096 -C 100 -I 2", "-T a -S 4097 -C 100 -I 2",
            "-T b -S 65536 -C 20 -I 2", "-T a -S 1048576 -C 2 -I 2", "-T n -S 4194304 -C 1 -I 2",
            "-T b -T r -S 1000 -C 100 -I 2", "-f ip -T n -S 1000 -C 100 -I 2",
            "-T b -k 1 -S 1000 -C 100 -I 2",
            // -B: buffer sizes, the least that rsockets have and a large one; -i: inline bytes
            "-B 2048 -T b -S 10000 -C 10 -I 2", "-B 33554432 -T n -S 4194304 -C 3 -I 1",
            "-i 0 -T n -S 100 -C 1000 -I 2", "-i 400 -T n -S 400 -C 1000 -I 2",
    })
    void unmodifiedClientAndServer(String options) throws Exception {
        Transfers transfers = new Transfers(number(options, "-S"), number(options, "-C"), number(options, "-I"));
        client("-T v " + options, List.of(List.of(transfers)), 1);
        server("-T v " + options, List.of(List.of(transfers)), 1);
    }

    /**
     * Without sizes rstream tests four, over two connections, and sets the inline size differently for them. Its client
     * does not say by its status that a test failed.
     */
    @ParameterizedTest
    @ValueSource(strings = "-T b")
    void unmodifiedClientAndServerTestManySizes(String options) throws Exception {
        assumeTrue(TestTimeouts.MULTIPLIER == 1, "half a million transfers take too long on this machine");
        List<List<Transfers>> connections = List.of(RstreamHandler.latencyTests(),
                RstreamHandler.bandwidthTests());
        client("-T v " + options, connections, 20);
        server("-T v " + options, connections, 20);
    }

    private static void client(String options, List<List<Transfers>> connections, int patience) throws Exception {
        BlockingQueue<Promise<Void>> accepted = new LinkedBlockingQueue<>();
        Counters counters = new Counters();
        List<List<Transfers>> waiting = new ArrayList<>(connections);
        ChannelFuture bound = new ServerBootstrap().group(LOOPS.group()).channel(RdmaServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        Promise<Void> done = ch.eventLoop().newPromise();
                        ch.pipeline().addLast(new RstreamHandler(false, waiting.remove(0), counters, done));
                        accepted.add(done);
                    }
                }).bind(RdmaSocketTestPermutation.newSocketAddress());
        Channel listener = TestTimeouts.sync(bound).channel();
        InetSocketAddress address = (InetSocketAddress) listener.localAddress();
        try (RsocketProcess client = rstream(options, "-s", address)) {
            for (int i = 0; i < connections.size(); i++) {
                assertDone(TestTimeouts.take(accepted, "a connection"), client, patience);
            }
            client.assertExit(0, patience);
            assertPassed(client, connections);
        } finally {
            TestTimeouts.await(listener.close());
        }
    }

    private static void server(String options, List<List<Transfers>> connections, int patience) throws Exception {
        InetSocketAddress address = RsocketProcess.someAddress();
        Counters counters = new Counters();
        try (RsocketProcess server = rstream(options, "-b", address)) {
            for (List<Transfers> tests : connections) {
                Promise<Void> done = LOOPS.group().next().newPromise();
                Channel channel = server.connect(LOOPS.group(), address,
                        () -> new RstreamHandler(true, tests, counters, done));
                assertDone(done, server, patience);
                TestTimeouts.sync(channel.close());
            }
            server.assertExit(0, patience);
            assertPassed(server, connections);
        }
    }

    private static void assertDone(Promise<Void> done, RsocketProcess process, int patience) throws Exception {
        assertThat(done.await(patience * TestTimeouts.SECONDS, TimeUnit.SECONDS)).as(process.log()).isTrue();
        assertThat(done.cause()).as(process.log()).isNull();
    }

    /** One line for each test after the command and the head line. */
    private static void assertPassed(RsocketProcess process, List<List<Transfers>> connections) {
        int tests = connections.stream().mapToInt(List::size).sum();
        assertThat(process.log().lines().filter(line -> line.contains("s ")).filter(line -> line.matches(
                "(custom|[0-9.]+[a-z]?_(lat|bw)) .*s +[0-9.]+ +[0-9.]+"))).as(process.log()).hasSize(tests);
        assertThat(process.log()).doesNotContain("failed");
    }

    private static RsocketProcess rstream(String options, String role, InetSocketAddress address) throws Exception {
        List<String> command = new ArrayList<>(List.of(RSTREAM));
        command.addAll(List.of(options.split(" ")));
        command.addAll(List.of(role, RsocketProcess.host(address), "-p", Integer.toString(address.getPort())));
        return RsocketProcess.start(command);
    }

    private static int number(String options, String name) {
        List<String> words = List.of(options.split(" "));
        return Integer.parseInt(words.get(words.indexOf(name) + 1));
    }
}
