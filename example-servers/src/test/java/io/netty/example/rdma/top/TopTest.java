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
package io.netty.example.rdma.top;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.example.rdma.echo.EchoServer;
import io.netty.example.rdma.util.ClientTransport;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The view of a JVM that runs: another process, with traffic.
 */
class TopTest {
    private static final int BYTES = 100_000;

    private final StringWriter out = new StringWriter();

    @Test
    void showsConnectionsRatesAndMemory() throws Exception {
        try (ChildJvm server = new ChildJvm(EchoServer.class, List.of(), "--transport", "rdma", "--host",
                RunningServer.HOST, "--port", "0")) {
            Matcher line = Pattern.compile("server listens on .*:(\\d+) .*").matcher(server.line("echo"));
            assertThat(line.matches()).isTrue();
            int port = Integer.parseInt(line.group(1));
            EventLoopGroup group = Transport.RDMA.newGroup(1, Waiting.DEFAULT);
            Echoes echoes = new Echoes();
            Channel client = ClientTransport.RDMA.connect(group, RunningServer.HOST, port, echoes);
            try {
                TestTimeouts.take(echoes.arrived, "an echo");
                assertThat(run()).isZero();
                String pid = Long.toString(server.pid());
                assertThat(out.toString()).containsPattern("(?m)^" + pid + ' ' +
                        Pattern.quote(EchoServer.class.getName()) + " .*--port 0$");

                // Until there was an echo in between, which a machine that is busy with something else may not manage.
                TestTimeouts.awaitTrue(() -> {
                    out.getBuffer().setLength(0);
                    assertThat(run(pid, "--count", "2", "--interval", "0.5")).isZero();
                    return !last(out.toString(), RunningServer.HOST + ':' + port).contains(" 0 B/s");
                });
                String text = out.toString();
                String row = last(text, RunningServer.HOST + ':' + port);
                assertThat(text.split("RDMA transport of process " + pid + " at ")).as(text).hasSize(3);
                assertThat(text).doesNotContain("\033");
                // Local, remote, in, stream, provider/device, why, rates, shares, memory, age.
                assertThat(row).matches(Pattern.quote(RunningServer.HOST + ':' + port) +
                        "\\s+\\S+:\\d+\\s+in\\s+stream" +
                        "\\s+\\S+/\\S+\\s+accepted" +
                        "\\s+[1-9][0-9.]* [KMG]?i?B/s\\s+[1-9][0-9.]* [KMG]?i?B/s\\s+\\d+%\\s+\\d+%\\s+" +
                        "[1-9][0-9.]* KiB\\s+\\d+ s");
                assertThat(text).containsPattern("memory +[1-9][0-9.]* MiB pinned of ")
                        .containsPattern("(?m)^\\S+ +(embedded|ibverbs) +1 +0 +1 +0 ");
            } finally {
                echoes.end = true;
                TestTimeouts.sync(client.close());
                TestTimeouts.shutdown(group);
            }
        }
    }

    private static String last(String text, String start) {
        return text.lines().filter(line -> line.startsWith(start)).reduce((first, second) -> second)
                .orElseThrow(() -> new AssertionError(text));
    }

    /** The attribute of an agent that has left a class as it is. */
    public interface AgentMXBean {
        Row[] getClasses();

        record Left() implements AgentMXBean {
            @Override
            public Row[] getClasses() {
                return new Row[] {new Row()};
            }
        }

        /** Columns of the agent's. */
        final class Row {
            public String getType() {
                return "com.example.Socket";
            }

            public String getBy() {
                return "";
            }

            public long getCount() {
                return 7;
            }

            public String getReason() {
                return "the reason";
            }
        }
    }

    /** A client for RDMA and TCP whose server has TCP alone. */
    static final class ClientOverTcp {
        private ClientOverTcp() { }

        public static void main(String[] arguments) throws Exception {
            ManagementFactory.getPlatformMBeanServer().registerMBean(new AgentMXBean.Left(),
                    new ObjectName("io.netty.rdma:type=Agent"));
            EventLoopGroup group = RdmaOrTcp.newEventLoopGroup(1);
            Channel server = TestTimeouts.sync(new ServerBootstrap().group(group)
                    .channel(EpollServerSocketChannel.class).childHandler(new ChannelInboundHandlerAdapter())
                    .bind(RunningServer.HOST, 0)).channel();
            TestTimeouts.sync(new Bootstrap().group(group).channel(RdmaOrTcpSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()));
            System.out.println("connected " + ((InetSocketAddress) server.localAddress()).getPort());
        }
    }

    @Test
    void showsWhereClientsAreOnTcpAndWhy() throws Exception {
        try (ChildJvm client = new ChildJvm(ClientOverTcp.class, List.of())) {
            String address = RunningServer.HOST + ':' + client.line("connected");
            assertThat(run(Long.toString(client.pid()), "--once", "--interval", "0.1")).isZero();
            String text = out.toString();
            assertThat(text).containsPattern("(?m)^transport +0 connections by RDMA; clients for both have 1 over " +
                    "TCP \\(1 so far\\), servers have accepted 0 over TCP so far$");
            assertThat(last(text, address)).matches(Pattern.quote(address) + " +1 +1 refused +Connection refused.*");
            assertThat(last(text, "com.example.Socket")).matches("com.example.Socket +7 nothing: the reason");
        }
    }

    @Test
    void endsWithTheProcess() throws Exception {
        try (ChildJvm server = new ChildJvm(EchoServer.class, List.of(), "--transport", "rdma", "--host",
                RunningServer.HOST, "--port", "0")) {
            server.line("echo");
            String pid = Long.toString(server.pid());
            CompletableFuture<Integer> status = CompletableFuture.supplyAsync(() -> run(pid, "--interval", "0.1"));
            TestTimeouts.awaitTrue(() -> out.toString().contains("DEVICE"));
            server.kill();
            assertThat(TestTimeouts.result(status)).isZero();
            assertThat(out.toString()).endsWith("Process " + pid + " has ended.\n");
        }
    }

    @Test
    void processThatIsNotThereIsNamed() {
        StringWriter err = new StringWriter();
        CommandLine command = new CommandLine(new Top()).setErr(new PrintWriter(err));
        // More than there can be: proc(5), pid_max.
        command.setExecutionExceptionHandler((failure, line, result) -> {
            line.getErr().println(failure.getMessage());
            return 1;
        });
        assertThat(command.execute("2147483647", "--once")).isEqualTo(1);
        assertThat(err.toString()).isEqualTo("No process 2147483647" + System.lineSeparator());
    }

    private int run(String... arguments) {
        return new CommandLine(new Top()).setOut(new PrintWriter(out, true)).execute(arguments);
    }

    /** Sends again what comes back. */
    private static final class Echoes extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<Integer> arrived = new LinkedBlockingQueue<>(1);
        private volatile boolean end;
        private int partial;

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            send(ctx);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf buf = (ByteBuf) msg;
            partial += buf.readableBytes();
            buf.release();
            if (partial >= BYTES) {
                partial -= BYTES;
                arrived.offer(BYTES);
                if (!end) {
                    send(ctx);
                }
            }
        }

        private static void send(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(ctx.alloc().directBuffer(BYTES).writeZero(BYTES));
        }
    }
}
