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
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.rdma.verbs.Verbs;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.SystemPropertyUtil;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.File;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The distribution's own {@code rstream}, on librdmacm's own rsockets, at the other end. Both sides send and check
 * every byte. {@code rstream} runs on the preloadable build of the embedded provider, so this needs that provider, that
 * build (property {@code io.netty.rdma.test.preload}) and the program; without one of them it is skipped.
 */
class RdmaRsocketInteropTest {
    private static final File PRELOAD = new File(SystemPropertyUtil.get("io.netty.rdma.test.preload",
            "../transport-rdma-native/target/c/librdma_embedded.so"));
    private static final File RSTREAM = new File("/usr/bin/rstream");
    /** The bytes that rstream exchanges first. */
    private static final int SYNC = 16;

    private static EventLoopGroup group;

    @BeforeAll
    static void createGroup() {
        assumeTrue(Verbs.provider() == VerbsProvider.EMBEDDED, "another provider");
        assumeTrue(PRELOAD.canRead(), "no " + PRELOAD);
        assumeTrue(RSTREAM.canExecute(), "no " + RSTREAM + ": apt-get install rdmacm-utils");
        group = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory());
    }

    @AfterAll
    static void shutdownGroup() throws InterruptedException {
        if (group != null) {
            TestTimeouts.await(group.shutdownGracefully());
        }
    }

    @ParameterizedTest
    @CsvSource({
            // test options, size, count, iterations
            "b, 1, 1000, 2",
            "b, 64, 1, 2000",
            "n, 4096, 100, 10",
            "b, 65536, 100, 5",
            "n, 1000000, 10, 5",
    })
    void unmodifiedClient(String mode, int size, int count, int iterations) throws Exception {
        try (EchoServer server = new EchoServer(group)) {
            Process client = rstream(mode, size, count, iterations, "-s", address(server.address()), "-p",
                    Integer.toString(server.address().getPort()));
            EchoServer.Connection connection = server.nextConnection();
            assertExit(client);
            assertThat(connection.nextEvent()).as("an orderly end").isSameAs(EchoServer.INACTIVE);
            EchoClient.check(group, server.address());
        }
    }

    @ParameterizedTest
    @CsvSource({
            "b, 1, 1000, 2",
            "n, 64, 1, 2000",
            "b, 4096, 100, 10",
            "n, 1000000, 10, 5",
    })
    void unmodifiedServer(String mode, int size, int count, int iterations) throws Exception {
        InetSocketAddress any = (InetSocketAddress) RdmaSocketTestPermutation.newSocketAddress();
        InetSocketAddress address = new InetSocketAddress(any.getAddress(),
                ThreadLocalRandom.current().nextInt(20_000, 30_000));
        Process server = rstream(mode, size, count, iterations, "-b", address(address), "-p",
                Integer.toString(address.getPort()));
        try {
            Promise<Void> done = group.next().newPromise();
            Channel channel = connect(address, new Exchange(size * count, iterations, done), server);
            TestTimeouts.await(done).syncUninterruptibly();
            TestTimeouts.await(channel.close()).syncUninterruptibly();
            assertExit(server);
        } finally {
            server.destroyForcibly();
        }
    }

    private static Process rstream(String mode, int size, int count, int iterations, String... where)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(RSTREAM.getPath(), "-T", "verify", "-T", mode, "-S",
                Integer.toString(size), "-C", Integer.toString(count), "-I", Integer.toString(iterations)));
        command.addAll(List.of(where));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("LD_PRELOAD", PRELOAD.getCanonicalPath());
        return builder.start();
    }

    /** Without the scope, that getaddrinfo(3) may not know. */
    private static String address(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        int scope = host.indexOf('%');
        return scope < 0 ? host : host.substring(0, scope);
    }

    private static void assertExit(Process process) throws IOException, InterruptedException {
        if (!process.waitFor(TestTimeouts.SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("rstream does not end");
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.exitValue()).as(output).isZero();
        assertThat(output).contains("custom").doesNotContain("failed");
    }

    /** Until the process listens. */
    private static Channel connect(InetSocketAddress address, Exchange exchange, Process server)
            throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS);
        for (;;) {
            ChannelFuture future = TestTimeouts.await(new Bootstrap().group(group).channel(RdmaSocketChannel.class)
                    .handler(exchange).connect(address));
            if (future.isSuccess()) {
                return future.channel();
            }
            assertThat(future.cause()).isInstanceOf(ConnectException.class);
            assertThat(server.isAlive()).isTrue();
            assertThat(System.nanoTime() - deadline).isNegative();
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    /** The client's part of rstream: send and receive some bytes, several times. All are a counter modulo 256. */
    @Sharable
    private static final class Exchange extends ChannelInboundHandlerAdapter {
        private final int length;
        private final int iterations;
        private final Promise<Void> done;
        private int iteration = -1;
        private int expected;
        private byte nextSent;
        private byte nextReceived;

        Exchange(int length, int iterations, Promise<Void> done) {
            this.length = length;
            this.iterations = iterations;
            this.done = done;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            send(ctx, SYNC);
        }

        private void send(ChannelHandlerContext ctx, int count) {
            byte[] bytes = new byte[count];
            for (int i = 0; i < count; i++) {
                bytes[i] = nextSent++;
            }
            expected = count;
            ctx.writeAndFlush(ctx.alloc().directBuffer(count).writeBytes(bytes));
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf buf = (ByteBuf) msg;
            byte[] bytes = ByteBufUtil.getBytes(buf);
            buf.release();
            for (byte b : bytes) {
                if (b != nextReceived++) {
                    done.tryFailure(new AssertionError("wrong byte in iteration " + iteration + ", " + expected +
                            " before its end"));
                    return;
                }
            }
            expected -= bytes.length;
            if (expected == 0) {
                if (++iteration == iterations) {
                    done.trySuccess(null);
                } else {
                    send(ctx, length);
                }
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            done.tryFailure(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            done.tryFailure(new AssertionError("closed in iteration " + iteration));
        }
    }
}
