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
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.peers.RstreamHandler.Counters;
import io.netty.channel.rdma.peers.RstreamHandler.Transfers;
import io.netty.channel.rdma.support.Generated;
import io.netty.channel.rdma.metrics.RdmaConnectMetrics;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;
import io.netty.util.concurrent.Promise;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Programs that were written for TCP, on rsockets by {@code librspreload.so}, with a server of ours that is nothing but
 * an HTTP server. Nothing listens at its port on TCP, to which {@code librspreload.so} would fall back. Which programs
 * do not work with it, and why, is in {@code docs/interoperability.md}.
 */
@Tag("iwarp-all")
@Tag("quick")
class RdmaPreloadedProgramsTest {
    private static final int LENGTH = 2_000_000;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);
    private static final AtomicInteger ACCEPTED = new AtomicInteger();
    private static Channel listener;
    private static String host;
    private static int port;
    private static String library;
    private static byte[] content;
    @TempDir
    static Path folder;

    @BeforeAll
    static void startServer() throws Exception {
        library = library();
        assumeTrue(library != null, "no librspreload.so: apt-get install librdmacm1");
        listener = TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group()).channel(RdmaServerSocketChannel.class)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true).childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ACCEPTED.incrementAndGet();
                        ch.pipeline().addLast(GeneratedHttpServer.handlers());
                    }
                }).bind(RdmaSocketTestPermutation.newSocketAddress())).channel();
        InetSocketAddress address = (InetSocketAddress) listener.localAddress();
        String literal = RsocketProcess.host(address);
        host = literal.contains(":") ? '[' + literal + ']' : literal;
        port = address.getPort();
        content = new byte[LENGTH];
        Generated.fill(content, 0);
        Files.write(folder.resolve("content"), content);
    }

    @AfterAll
    static void stopServer() throws InterruptedException {
        if (listener != null) {
            TestTimeouts.await(listener.close());
        }
    }

    /** Where Debian has it, and where others have it. */
    private static String library() throws IOException {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(Path.of("/usr/lib"), "*-linux-gnu")) {
            for (Path each : folders) {
                File file = each.resolve("rsocket/librspreload.so").toFile();
                if (file.canRead()) {
                    return file.getPath();
                }
            }
        }
        File file = new File("/usr/lib64/rsocket/librspreload.so");
        return file.canRead() ? file.getPath() : null;
    }

    @ParameterizedTest
    @ValueSource(strings = { "/2000000", "/chunked/2000000" })
    void curlGets(String path) throws Exception {
        Path result = folder.resolve("result");
        run("curl", "-sS", "-f", "-o", result.toString(), url(path));
        assertThat(Files.readAllBytes(result)).isEqualTo(content);
    }

    @Test
    void curlPosts() throws Exception {
        String log = run("curl", "-sS", "-f", "--data-binary", "@" + folder.resolve("content"), url("/"));
        assertThat(log).contains(Generated.sum(LENGTH));
    }

    @ParameterizedTest
    @ValueSource(strings = { "/2000000", "/chunked/2000000" })
    void wgetGets(String path) throws Exception {
        Path result = folder.resolve("result");
        run("wget", "-q", "-t", "1", "-O", result.toString(), url(path));
        assertThat(Files.readAllBytes(result)).isEqualTo(content);
    }

    @Test
    void wgetPosts() throws Exception {
        String log = run("wget", "-q", "-t", "1", "-O", "-", "--post-file=" + folder.resolve("content"), url("/"));
        assertThat(log).contains(Generated.sum(LENGTH));
    }

    /** Ends its output behind the request, and waits for the end of the answer. */
    @Test
    void socatEndsItsOutputAndGetsTheAnswer() throws Exception {
        Path request = folder.resolve("request");
        Path result = folder.resolve("result");
        Files.writeString(request, "GET /" + LENGTH + " HTTP/1.1\r\nHost: socat\r\n\r\n");
        RsocketProcess.assumeInstalled("/usr/bin/socat", "socat");
        // socat's own addresses of files make it crash under librspreload.so, alone as well.
        run("sh", "-c", "exec socat -t " + TestTimeouts.SECONDS + " - TCP:" + host + ':' + port + " < " + request +
                " > " + result);
        byte[] received = Files.readAllBytes(result);
        assertThat(new String(received, 0, 15, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 200 OK");
        assertThat(Arrays.copyOfRange(received, received.length - LENGTH, received.length)).isEqualTo(content);
    }

    /** rstream with plain sockets ({@code -T s}) is such a program too. */
    @Test
    void rstreamWithPlainSocketsIsAServer() throws Exception {
        RsocketProcess.assumeInstalled("/usr/bin/rstream", "rdmacm-utils");
        InetSocketAddress address = RsocketProcess.someAddress();
        Promise<Void> done = LOOPS.group().next().newPromise();
        try (RsocketProcess server = RsocketProcess.startPreloaded(library, List.of("rstream", "-T", "s", "-T", "b",
                "-T", "v", "-S", "10000", "-C", "20", "-I", "2", "-b", RsocketProcess.host(address), "-p",
                Integer.toString(address.getPort())))) {
            Channel channel = server.connect(LOOPS.group(), address, () -> new RstreamHandler(true,
                    List.of(new Transfers(10_000, 20, 2)), new Counters(), done));
            TestTimeouts.sync(done);
            TestTimeouts.sync(channel.close());
            server.assertExit(0);
        }
    }

    private static String url(String path) {
        return "http://" + host + ':' + port + path;
    }

    private static String run(String program, String... arguments) throws Exception {
        RsocketProcess.assumeInstalled("/usr/bin/" + program, program);
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(List.of(arguments));
        int before = ACCEPTED.get();
        long rejections = rejections();
        try (RsocketProcess process = RsocketProcess.startPreloaded(library, command)) {
            if (process.exit() != 0) {
                // A program that the listener has rejected falls back to TCP, too.
                assertThat(rejections()).as(process.log()).isEqualTo(rejections);
                assumeFalse(ACCEPTED.get() == before && connectsOverTcp(command), () -> program + " has TCP sockets " +
                        "only: this version of it, or of librspreload.so, makes no rsockets, for example because of " +
                        "SOCK_CLOEXEC (docs/interoperability.md)\n" + process.log());
            }
            process.assertExit(0);
            return process.log();
        }
    }

    private static long rejections() {
        return Arrays.stream(RdmaConnectMetrics.Rejection.values()).mapToLong(RdmaConnectMetrics.total()::rejections)
                .sum();
    }

    /** Runs the program once more while both RDMA and TCP have a listener, and returns whether it comes over TCP. */
    private static boolean connectsOverTcp(List<String> command) throws Exception {
        InetSocketAddress address = (InetSocketAddress) listener.localAddress();
        ServerSocket tcp = new ServerSocket(port, 1, address.getAddress());
        AtomicBoolean came = new AtomicBoolean();
        Thread acceptor = new Thread(() -> {
            try (Socket socket = tcp.accept()) {
                came.set(socket.isConnected());
            } catch (IOException ignored) {
                // The program has ended without a connection.
            }
        });
        acceptor.start();
        try (RsocketProcess process = RsocketProcess.startPreloaded(library, command)) {
            process.exit();
        } finally {
            tcp.close();
        }
        acceptor.join();
        return came.get();
    }
}
