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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.util.internal.SystemPropertyUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A C program on verbs, the connection manager, or librdmacm's own rsockets: on the kernel's devices if the provider
 * here is {@code ibverbs}, else on the embedded provider, as its build for {@code LD_PRELOAD} (property {@code
 * io.netty.rdma.test.preload}).
 */
final class RsocketProcess implements AutoCloseable {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RsocketProcess.class);
    private static final File EMBEDDED = new File(SystemPropertyUtil.get("io.netty.rdma.test.preload",
            "../transport-rdma-native/target/c/librdma_embedded.so"));
    /** Folder of the programs that are built from {@code src/test/c}. */
    private static final File PROGRAMS = new File(SystemPropertyUtil.get("io.netty.rdma.test.programs", "target/c"));
    private static final String END = "end of output";

    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final StringBuffer log = new StringBuffer();
    private final Thread reader;

    /**
     * @param preload a library to preload besides, or {@code null}
     */
    private RsocketProcess(String preload, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        List<String> libraries = new ArrayList<>();
        if (preload != null) {
            libraries.add(preload);
        }
        if (VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED) {
            libraries.add(EMBEDDED.getCanonicalPath());
        }
        builder.environment().put("LD_PRELOAD", String.join(":", libraries));
        log.append(String.join(" ", command)).append('\n');
        process = builder.start();
        reader = new Thread(this::read, "output of " + command.get(0));
        reader.setDaemon(true);
        reader.start();
    }

    /** Skips the test where C programs can't be the other end, or this one is not installed. */
    static void assumeInstalled(String program, String debianPackage) {
        assumeTrue(VerbsApi.preferred().provider() != VerbsProvider.EMBEDDED || EMBEDDED.canRead(), "no " + EMBEDDED +
                ": make -C transport-rdma-native/src/main/c preload");
        assumeTrue(new File(program).canExecute(), "no " + program + ": apt-get install " + debianPackage);
    }

    static RsocketProcess start(List<String> command) throws IOException {
        return new RsocketProcess(null, command);
    }

    static RsocketProcess startPreloaded(String library, List<String> command) throws IOException {
        return new RsocketProcess(library, command);
    }

    /** Our own program, {@code src/test/c/peer.c}, connects and does these steps. */
    static RsocketProcess peerClient(InetSocketAddress address, String options, String steps) throws IOException {
        return peer(options, "connect " + host(address) + ' ' + address.getPort() + ' ' + steps);
    }

    /** Our own program listens and does these steps with its first connection. */
    static RsocketProcess peerServer(String options, String steps) throws IOException {
        InetSocketAddress any = (InetSocketAddress) RdmaSocketTestPermutation.newSocketAddress();
        return peer(options, "listen " + host(any) + ' ' + steps);
    }

    private static RsocketProcess peer(String options, String arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(built("rsocket_peer")));
        for (String option : options.isEmpty() ? new String[0] : options.split(" ")) {
            command.addAll(List.of("-o", option));
        }
        command.addAll(List.of(arguments.split(" ")));
        return new RsocketProcess(null, command);
    }

    /** The path of a program of ours. */
    static String built(String name) {
        File program = new File(PROGRAMS, name);
        assertThat(program.canExecute()).as("%s: make -C testsuite/src/test/c OUT=../../../target/c", program)
                .isTrue();
        return program.getAbsolutePath();
    }

    /** Without the scope, that getaddrinfo(3) may not know. */
    static String host(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        int scope = host.indexOf('%');
        return scope < 0 ? host : host.substring(0, scope);
    }

    /** Where a program can be told to listen that prints nothing of it. */
    static InetSocketAddress someAddress() {
        InetSocketAddress any = (InetSocketAddress) RdmaSocketTestPermutation.newSocketAddress();
        return new InetSocketAddress(any.getAddress(), ThreadLocalRandom.current().nextInt(20_000, 30_000));
    }

    /**
     * Connects to the program, which was started a moment ago and need not listen yet.
     *
     * @param handlers makes the handler of an attempt
     */
    Channel connect(EventLoopGroup group, InetSocketAddress address, Supplier<? extends ChannelHandler> handlers)
            throws InterruptedException {
        return connect(new Bootstrap().group(group).channel(RdmaSocketChannel.class), address, handlers);
    }

    /** As above, with a bootstrap that has everything else. */
    Channel connect(Bootstrap bootstrap, InetSocketAddress address, Supplier<? extends ChannelHandler> handlers)
            throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS);
        for (;;) {
            ChannelFuture future = TestTimeouts.await(bootstrap
                    .handler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            ch.pipeline().addLast(handlers.get());
                        }
                    }).connect(address));
            if (future.isSuccess()) {
                return future.channel();
            }
            assertThat(future.cause()).as(log.toString()).isInstanceOf(ConnectException.class);
            assertThat(process.isAlive() && System.nanoTime() < deadline).as(log.toString()).isTrue();
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    private void read() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(process.getInputStream(),
                StandardCharsets.UTF_8))) {
            for (String line; (line = in.readLine()) != null;) {
                log.append(line).append('\n');
                lines.add(line);
            }
        } catch (IOException e) {
            // The process was killed.
            log.append(e);
        } finally {
            lines.add(END);
        }
    }

    /** Where our program listens, once it does. */
    InetSocketAddress address() throws InterruptedException {
        String[] words = nextLine().split(" ");
        assertThat(words[0]).as(log.toString()).isEqualTo("port");
        InetSocketAddress any = (InetSocketAddress) RdmaSocketTestPermutation.newSocketAddress();
        return new InetSocketAddress(any.getAddress(), Integer.parseInt(words[1]));
    }

    String nextLine() throws InterruptedException {
        String line = TestTimeouts.take(lines, "a line of output after:\n" + log);
        assertThat(line).as(log.toString()).isNotSameAs(END);
        return line;
    }

    void assertNextLine(String expected) throws InterruptedException {
        assertThat(nextLine()).as(log.toString()).isEqualTo(expected);
    }

    /** Lets it go on from its step {@code wait}. */
    void resume() {
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void assertExit(int status) throws InterruptedException {
        assertExit(status, 1);
    }

    /**
     * @param patience how many times longer than usual it may take
     */
    void assertExit(int status, int patience) throws InterruptedException {
        int actual = exit(patience);
        assertThat(actual).as(log.toString()).isEqualTo(status);
    }

    /** The exit status, for which it waits. */
    int exit() throws InterruptedException {
        return exit(1);
    }

    private int exit(int patience) throws InterruptedException {
        boolean ended = process.waitFor(patience * TestTimeouts.SECONDS, TimeUnit.SECONDS);
        assertThat(ended).as("the program ended: %s", log).isTrue();
        reader.join(TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS));
        return process.exitValue();
    }

    /** SIGKILL: it cannot say goodbye. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        assertThat(process.waitFor(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    /** The command line and all that it printed. */
    String log() {
        return log.toString();
    }

    @Override
    public void close() {
        logger.info("{}", log);
        process.destroyForcibly().onExit().orTimeout(TestTimeouts.SECONDS, TimeUnit.SECONDS).join();
    }
}
