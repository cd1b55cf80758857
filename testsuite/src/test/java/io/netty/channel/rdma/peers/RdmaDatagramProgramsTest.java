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
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandler;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaDatagram;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The distribution's own {@code udaddy} and {@code mckey}, which send datagrams to each other and to groups, at the
 * other end of a {@link RdmaDatagramChannel}.
 */
class RdmaDatagramProgramsTest {
    private static final String UDADDY = "/usr/bin/udaddy";
    private static final String MCKEY = "/usr/bin/mckey";
    /** Port of udaddy, which has no option for it: see {@link #takePort}. */
    private static final int UDADDY_PORT = 7174;
    private static final int COUNT = 10;
    private static final int SIZE = 100;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    /** While it is open, the port is ours: that of TCP, which nobody else has to do with, stands for that of RDMA. */
    private ServerSocket portLock;

    @AfterEach
    void givePortBack() throws Exception {
        if (portLock != null) {
            portLock.close();
        }
    }

    /**
     * For the rest of the test no other run of it in this network namespace has to do with the port: its client would
     * be taken for ours, and udaddy serves only one.
     */
    private void takePort() throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(2 * TestTimeouts.SECONDS);
        while (portLock == null) {
            try {
                portLock = new ServerSocket(UDADDY_PORT, 1, InetAddress.getByName(host()));
            } catch (BindException e) {
                assertThat(System.nanoTime() < deadline).as("%s", e).isTrue();
                TimeUnit.MILLISECONDS.sleep(20);
            }
        }
    }

    private static RsocketProcess program(String program, String... arguments) throws Exception {
        RsocketProcess.assumeInstalled(program, "rdmacm-utils");
        // The program writes its output when it ends, unless it is told otherwise.
        List<String> command = new ArrayList<>(List.of("/usr/bin/stdbuf", "-oL", program));
        command.addAll(List.of("-C", String.valueOf(COUNT), "-S", String.valueOf(SIZE)));
        command.addAll(List.of(arguments));
        return RsocketProcess.start(command);
    }

    private static String host() {
        return TestAddress.HOST;
    }

    private static RdmaDatagramChannel bind(int port, Supplier<ChannelInboundHandler> handlers)
            throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS);
        for (;;) {
            ChannelFuture bound = TestTimeouts.await(new Bootstrap().group(LOOPS.group())
                    .channel(RdmaDatagramChannel.class).handler(handlers.get())
                    .bind(new InetSocketAddress(host(), port)));
            if (bound.isSuccess()) {
                return (RdmaDatagramChannel) bound.channel();
            }
            // The tests of C programs of another run may have the port for a moment.
            assertThat(System.nanoTime() < deadline).as("bound: %s", bound.cause()).isTrue();
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    @Test
    void udaddyAsClient() throws Exception {
        takePort();
        RdmaDatagramChannel server = bind(UDADDY_PORT, () -> new SimpleChannelInboundHandler<RdmaDatagram>() {
            @Override
            protected void channelRead0(ChannelHandlerContext ctx, RdmaDatagram datagram) {
                ctx.writeAndFlush(new RdmaDatagram(datagram.content().retain(), datagram.sender()));
            }
        });
        try (RsocketProcess client = program(UDADDY, "-s", host(), "-c", "3")) {
            client.assertExit(0);
            assertThat(client.log()).contains("return status 0");
        } finally {
            TestTimeouts.await(server.close());
        }
    }

    /** udaddy's server answers to the queue pair in the immediate data. */
    @Test
    void udaddyAsServer() throws Exception {
        takePort();
        BlockingQueue<RdmaDatagram> answers = new LinkedBlockingQueue<>();
        RdmaDatagramChannel client = bind(0, () -> collector(answers));
        try (RsocketProcess server = program(UDADDY, "-b", host())) {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS);
            InetSocketAddress address = new InetSocketAddress(host(), UDADDY_PORT);
            for (ChannelFuture connect; !(connect = TestTimeouts.await(client.connect(address))).isSuccess();) {
                assertThat(System.nanoTime() < deadline).as("%s: %s", server.log(), connect.cause()).isTrue();
                TimeUnit.MILLISECONDS.sleep(20);
            }
            for (int i = 0; i < COUNT; i++) {
                TestTimeouts.sync(client.writeAndFlush(new RdmaDatagram(data(), null,
                        client.datagramAddress().queuePairNumber())));
            }
            take(answers, server);
            server.assertExit(0);
            assertThat(server.log()).contains("return status 0");
        } finally {
            TestTimeouts.await(client.close());
        }
    }

    @Test
    void mckeyAsSender() throws Exception {
        InetAddress group = TestAddress.anyGroup();
        BlockingQueue<RdmaDatagram> received = new LinkedBlockingQueue<>();
        RdmaDatagramChannel member = bind(0, () -> collector(received));
        try {
            join(member, group);
            try (RsocketProcess sender = program(MCKEY, "-m", group.getHostAddress(), "-b", host(), "-s")) {
                take(received, sender);
                sender.assertExit(0);
            }
        } finally {
            TestTimeouts.await(member.close());
        }
    }

    @Test
    void mckeyAsReceiver() throws Exception {
        InetAddress group = TestAddress.anyGroup();
        RdmaDatagramChannel sender = bind(0, () -> collector(new LinkedBlockingQueue<>()));
        try {
            join(sender, group);
            try (RsocketProcess member = program(MCKEY, "-m", group.getHostAddress(), "-b", host())) {
                while (!member.nextLine().startsWith("receiving")) {
                    // Not a member yet.
                }
                for (int i = 0; i < COUNT; i++) {
                    TestTimeouts.sync(sender.writeAndFlush(new RdmaDatagram(data(),
                            new InetSocketAddress(group, 0))));
                }
                member.assertExit(0);
                assertThat(member.log()).contains("data transfers complete");
            }
        } finally {
            TestTimeouts.await(sender.close());
        }
    }

    private static void join(RdmaDatagramChannel channel, InetAddress group) throws Exception {
        assumeTrue(channel.capabilities().supportsMulticast(), "the device has no multicast");
        TestTimeouts.sync(channel.joinGroup(group));
    }

    private static ByteBuf data() {
        return Unpooled.buffer(SIZE, SIZE).writeZero(SIZE);
    }

    private static void take(BlockingQueue<RdmaDatagram> datagrams, RsocketProcess sender) throws Exception {
        for (int i = 0; i < COUNT; i++) {
            RdmaDatagram datagram = TestTimeouts.take(datagrams, "a datagram from " + sender.log());
            assertThat(datagram.content().readableBytes()).isEqualTo(SIZE);
            datagram.release();
        }
    }

    private static ChannelInboundHandlerAdapter collector(BlockingQueue<RdmaDatagram> datagrams) {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                datagrams.add((RdmaDatagram) msg);
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                datagrams.removeIf(RdmaDatagram::release);
            }
        };
    }
}
