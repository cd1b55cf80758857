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
package io.netty.channel.rdma.support;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.channel.rdma.verbs.ChildJvm;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Another JVM: one that echoes, as a server or as a client, until it is killed, or any other program. A program prints
 * {@link #READY} and what it wants to say, and ends when its standard input does: it does not outlive its parent.
 */
public final class PeerProcess implements AutoCloseable {
    public static final int MAX_MESSAGE = 64 << 10;
    public static final String READY = "READY ";
    private static final String END = "the end of its output";

    private final Process process;
    private final BlockingQueue<String> output = new LinkedBlockingQueue<>();
    private final String answer;

    public PeerProcess(Class<?> program, String... arguments) throws IOException, InterruptedException {
        this(javaCommand(List.of(), List.of(), program, arguments));
    }

    /**
     * A JVM.
     *
     * @param launcher a command that runs another one, which is appended to it.
     * @param properties {@code name=value}
     */
    public PeerProcess(List<String> launcher, List<String> properties, Class<?> program, String... arguments)
            throws IOException, InterruptedException {
        this(javaCommand(launcher, properties, program, arguments));
    }

    /** Any program. */
    public PeerProcess(List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        // For C programs: check.h.
        builder.environment().put("RDMA_TEST_MULTIPLIER", Integer.toString(TestTimeouts.MULTIPLIER));
        process = builder.start();
        Thread reader = new Thread(this::readOutput, "output of process " + process.pid());
        reader.setDaemon(true);
        reader.start();
        boolean ready = false;
        try {
            answer = expect(READY);
            ready = true;
        } finally {
            if (!ready) {
                process.destroyForcibly();
            }
        }
    }

    private static List<String> javaCommand(List<String> launcher, List<String> properties, Class<?> program,
            String... arguments) {
        List<String> command = new ArrayList<>(launcher);
        command.add(System.getProperty("java.home") + "/bin/java");
        command.addAll(ChildJvm.SHORT_LIVED);
        command.add("-cp");
        // Surefire's own class path is a jar that only names the real one.
        command.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        for (String name : new String[] {"java.library.path", "io.netty.rdma.provider", "io.netty.rdma.test.address",
                "test.timeout.multiplier"}) {
            String value = System.getProperty(name);
            if (value != null) {
                command.add("-D" + name + '=' + value);
            }
        }
        properties.forEach(property -> command.add("-D" + property));
        command.add(program.getName());
        command.addAll(List.of(arguments));
        return command;
    }

    /** A process with a server. */
    public static PeerProcess server() throws IOException, InterruptedException {
        return new PeerProcess(PeerProcess.class, "server");
    }

    /** A process with a server of messages, of up to {@link #MAX_MESSAGE} bytes. */
    public static PeerProcess messageServer() throws IOException, InterruptedException {
        return new PeerProcess(PeerProcess.class, "messages");
    }

    /** A process with a client that is connected. */
    public static PeerProcess client(InetSocketAddress address) throws IOException, InterruptedException {
        return new PeerProcess(PeerProcess.class, "client", address.getAddress().getHostAddress(),
                Integer.toString(address.getPort()));
    }

    private void readOutput() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            reader.lines().forEach(output::add);
        } catch (IOException | UncheckedIOException e) {
            output.add(e.toString());
        }
        output.add(END);
    }

    /** Waits for a line that begins so, and returns the rest of it. */
    public String expect(String beginning) throws InterruptedException {
        StringBuilder before = new StringBuilder();
        for (String line; !(line = TestTimeouts.take(output, beginning + "; before it: " + before)).equals(END);) {
            if (line.startsWith(beginning)) {
                return line.substring(beginning.length());
            }
            before.append(line).append('\n');
        }
        output.add(END);
        throw new AssertionError("the peer process ended without '" + beginning + "':\n" + before);
    }

    /** Writes a line to the standard input of the program. */
    public void send(String line) throws IOException {
        Writer input = process.outputWriter(StandardCharsets.UTF_8);
        input.write(line + '\n');
        input.flush();
    }

    public long pid() {
        return process.pid();
    }

    /** Text behind {@link #READY}. */
    public String answer() {
        return answer;
    }

    /** Waits until the program has ended by itself. */
    public void awaitExit(int status) throws InterruptedException {
        assertThat(process.waitFor(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(status);
    }

    public InetSocketAddress address() {
        int colon = answer.lastIndexOf(':');
        return new InetSocketAddress(answer.substring(0, colon), Integer.parseInt(answer.substring(colon + 1)));
    }

    /** SIGKILL: the process cannot say goodbye. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        // 128 + SIGKILL
        awaitExit(137);
    }

    /** SIGSTOP: the process does nothing any more, and can't be asked. */
    public void stop() throws Exception {
        signal("STOP");
    }

    /** SIGCONT: it goes on. */
    public void resume() throws Exception {
        signal("CONT");
    }

    private void signal(String name) throws Exception {
        // The shell's own: kill(1) is in a package of its own, which a small system lacks.
        Process kill = new ProcessBuilder("sh", "-c", "kill -s " + name + ' ' + process.pid()).inheritIO().start();
        assertThat(kill.waitFor(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(kill.exitValue()).isZero();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().orTimeout(TestTimeouts.SECONDS, TimeUnit.SECONDS).join();
    }

    private static void ready(InetSocketAddress address) {
        System.out.println(READY + address.getAddress().getHostAddress() + ':' + address.getPort());
    }

    public static void main(String[] args) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory());
        if ("server".equals(args[0])) {
            ready(new EchoServer(group).address());
        } else if ("messages".equals(args[0])) {
            ready((InetSocketAddress) TestTimeouts.sync(new ServerBootstrap().group(group)
                    .channel(RdmaServerMessageChannel.class)
                    .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, MAX_MESSAGE)
                    .childHandler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object msg) {
                            ctx.writeAndFlush(new RdmaSend(((RdmaReceive) msg).content()));
                        }
                    }).bind(TestAddress.anyPort())).channel().localAddress());
        } else {
            Bootstrap bootstrap = new Bootstrap().group(group).channel(RdmaSocketChannel.class).handler(
                    new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object msg) {
                            ctx.writeAndFlush(msg);
                        }
                    });
            TestTimeouts.sync(bootstrap.connect(args[1], Integer.parseInt(args[2])));
            System.out.println(READY);
        }
        // A parent that dies, or forgets to kill us, closes our standard input at its end.
        while (System.in.read() != -1) {
            continue;
        }
        System.exit(1);
    }
}
