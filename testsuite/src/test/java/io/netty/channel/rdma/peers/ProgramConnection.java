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
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;

import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A C program on verbs, and the message channel that it is connected to, whichever is the client. For the thread of a
 * test, which waits for each step.
 */
final class ProgramConnection implements AutoCloseable {
    private static final byte[] END = { };
    private static final Set<RdmaPermission> REMOTE_PERMISSIONS =
            EnumSet.complementOf(EnumSet.of(RdmaPermission.LOCAL_WRITE));

    private final RsocketProcess program;
    private final Channel listener;
    private final Messages messages;

    private ProgramConnection(RsocketProcess program, Channel listener, Messages messages) {
        this.program = program;
        this.listener = listener;
        this.messages = messages;
    }

    /**
     * @param client  whether the program is the client
     * @param command of the program, with the address to connect to or to listen at
     */
    static ProgramConnection open(EventLoopGroup group, boolean client,
                                  Function<InetSocketAddress, List<String>> command) throws Exception {
        if (client) {
            return accept(group, command);
        }
        InetSocketAddress address = RsocketProcess.someAddress();
        RsocketProcess server = RsocketProcess.start(command.apply(address));
        ProgramConnection connection = null;
        try {
            connection = connect(group, server, address);
            return connection;
        } finally {
            if (connection == null) {
                server.close();
            }
        }
    }

    private static ProgramConnection accept(EventLoopGroup group, Function<InetSocketAddress, List<String>> command)
            throws Exception {
        BlockingQueue<Messages> accepted = new LinkedBlockingQueue<>();
        Channel listener = TestTimeouts.sync(new ServerBootstrap().group(group)
                .channel(RdmaServerMessageChannel.class)
                .childOption(RdmaChannelOption.REMOTE_PERMISSIONS, REMOTE_PERMISSIONS)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(new Messages(accepted));
                    }
                }).bind(RdmaSocketTestPermutation.newSocketAddress())).channel();
        RsocketProcess client = RsocketProcess.start(command.apply((InetSocketAddress) listener.localAddress()));
        ProgramConnection connection = null;
        try {
            connection = new ProgramConnection(client, listener, TestTimeouts.take(accepted, client.log()));
            return connection;
        } finally {
            if (connection == null) {
                client.close();
                TestTimeouts.await(listener.close());
            }
        }
    }

    /** Connects to a server that was started a moment ago; it ends with the connection. */
    static ProgramConnection connect(EventLoopGroup group, RsocketProcess server, InetSocketAddress address)
            throws Exception {
        BlockingQueue<Messages> connected = new LinkedBlockingQueue<>();
        server.connect(new Bootstrap().group(group).channel(RdmaMessageChannel.class)
                .option(RdmaChannelOption.REMOTE_PERMISSIONS, REMOTE_PERMISSIONS), address,
                () -> new Messages(connected));
        return new ProgramConnection(server, null, TestTimeouts.take(connected, server.log()));
    }

    /**
     * Connects without the connection manager.
     *
     * @param exchange starts the program, and tells each end of the other
     */
    static ProgramConnection byHand(EventLoopGroup group, Exchange exchange) throws Exception {
        BlockingQueue<Messages> connected = new LinkedBlockingQueue<>();
        RdmaMessageChannel channel = new RdmaMessageChannel();
        channel.pipeline().addLast(new Messages(connected));
        TestTimeouts.sync(group.register(channel));
        ProgramConnection connection = null;
        try {
            TestTimeouts.sync(channel.bind(TestAddress.anyPort()));
            RsocketProcess program = exchange.meet(channel);
            connection = new ProgramConnection(program, null, TestTimeouts.take(connected, program.log()));
            return connection;
        } finally {
            if (connection == null) {
                TestTimeouts.await(channel.close());
            }
        }
    }

    /** Exchange by which a channel and a program are connected by hand. */
    @FunctionalInterface
    interface Exchange {
        /** Returns the program, when the channel, which is bound, is connected to it. */
        RsocketProcess meet(RdmaMessageChannel channel) throws Exception;
    }

    RsocketProcess program() {
        return program;
    }

    RdmaMessageChannel channel() {
        return messages.channel;
    }

    /** Writes it, and waits for its completion. */
    <T> T write(T message) throws InterruptedException {
        TestTimeouts.sync(channel().writeAndFlush(message));
        return message;
    }

    /** The bytes of the next message. */
    byte[] nextMessage() throws InterruptedException {
        byte[] message = TestTimeouts.take(messages.queue, "a message of:\n" + program.log());
        assertThat(message).as("a message of: %s", program.log()).isNotSameAs(END);
        return message;
    }

    /** There is no other message, and no exception: the peer has disconnected. */
    void assertEnd() throws InterruptedException {
        assertThat(TestTimeouts.take(messages.queue, "the end of:\n" + program.log())).as(program.log()).isSameAs(END);
        assertThat(messages.failure).as(program.log()).isNull();
    }

    /** Disconnects the channel. */
    void disconnect() throws InterruptedException {
        TestTimeouts.sync(channel().close());
        assertEnd();
    }

    @Override
    public void close() {
        channel().close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS);
        program.close();
        if (listener != null) {
            listener.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS);
        }
    }

    private static final class Messages extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<byte[]> queue = new LinkedBlockingQueue<>();
        private final BlockingQueue<Messages> established;
        private volatile RdmaMessageChannel channel;
        private volatile Throwable failure;

        Messages(BlockingQueue<Messages> established) {
            this.established = established;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            channel = (RdmaMessageChannel) ctx.channel();
            established.add(this);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf content = ((RdmaReceive) msg).content();
            queue.add(ByteBufUtil.getBytes(content));
            content.release();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            queue.add(END);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failure = cause;
        }
    }
}
