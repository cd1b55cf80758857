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
package io.netty.channel.rdma.message;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.EventRecorder;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server and a client of messages in this process, each with a {@link Recorder} at the end of its pipeline.
 */
final class MessagePair implements AutoCloseable {
    final Recorder clientEvents = new Recorder();
    final Recorder serverEvents = new Recorder();
    final Channel listener;
    final RdmaMessageChannel client;
    final RdmaMessageChannel server;

    MessagePair(EventLoopGroup group) throws Exception {
        this(group, b -> { }, b -> { });
    }

    MessagePair(EventLoopGroup group, Consumer<ServerBootstrap> serverOptions, Consumer<Bootstrap> clientOptions)
            throws Exception {
        ServerBootstrap serverBootstrap = listening(group, serverEvents);
        serverOptions.accept(serverBootstrap);
        listener = TestTimeouts.sync(serverBootstrap.bind(TestAddress.anyPort())).channel();
        Bootstrap clientBootstrap = connecting(group, clientEvents);
        clientOptions.accept(clientBootstrap);
        client = (RdmaMessageChannel) TestTimeouts.sync(clientBootstrap.connect(listener.localAddress())).channel();
        assertThat(clientEvents.next()).isEqualTo("active");
        assertThat(serverEvents.next()).isEqualTo("active");
        server = (RdmaMessageChannel) serverEvents.channel();
    }

    static ServerBootstrap listening(EventLoopGroup group, Recorder child) {
        return new ServerBootstrap().group(group).channel(RdmaServerMessageChannel.class).childHandler(child);
    }

    static Bootstrap connecting(EventLoopGroup group, Recorder events) {
        return new Bootstrap().group(group).channel(RdmaMessageChannel.class).handler(events);
    }

    /** A channel that has a local address, to be connected by hand. */
    static RdmaMessageChannel bound(EventLoopGroup group, Recorder events,
                                    Consumer<ChannelConfig> options) throws Exception {
        RdmaMessageChannel channel = new RdmaMessageChannel();
        options.accept(channel.config());
        channel.pipeline().addLast(events);
        TestTimeouts.sync(group.register(channel));
        TestTimeouts.sync(channel.bind(TestAddress.anyPort()));
        return channel;
    }

    /** Writes, and waits for the completion. */
    static void write(Channel channel, Object msg) throws Exception {
        TestTimeouts.sync(channel.writeAndFlush(msg));
    }

    /** Writes, and returns the exception of its failure. */
    static Throwable failure(Channel channel, Object msg) throws Exception {
        ChannelFuture future = TestTimeouts.await(channel.writeAndFlush(msg));
        assertThat(future.cause()).as("failure of " + msg).isNotNull();
        return future.cause();
    }

    @Override
    public void close() {
        for (Channel channel : new Channel[] { client, server, listener }) {
            assertThat(channel.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        }
        clientEvents.release();
        serverEvents.release();
    }

    /**
     * Records what happens to a channel. Received messages are kept until {@link #message}.
     */
    static final class Recorder extends EventRecorder {
        private final BlockingQueue<RdmaReceive> messages = new LinkedBlockingQueue<>();
        private final BlockingQueue<RdmaReceive> failedReceives = new LinkedBlockingQueue<>();
        private final BlockingQueue<RdmaChannelState> states = new LinkedBlockingQueue<>();
        /** Keep requests from the end of the pipeline, where they would be accepted. */
        volatile boolean takesRequests;

        /** The next message, which the caller releases. */
        RdmaReceive message() throws InterruptedException {
            return TestTimeouts.take(messages, "a message");
        }

        /** The next message as text. */
        String text() throws InterruptedException {
            RdmaReceive message = message();
            try {
                ByteBuf content = message.content();
                assertThat(message.length()).isEqualTo(content.readableBytes());
                return content.toString(StandardCharsets.US_ASCII);
            } finally {
                message.release();
            }
        }

        /** The next state that the pipeline was told of. */
        RdmaChannelState state() throws InterruptedException {
            return TestTimeouts.take(states, "a state");
        }

        /** The next receive of the application that has failed. */
        RdmaReceive failedReceive() throws InterruptedException {
            return TestTimeouts.take(failedReceives, "a failed receive");
        }

        int messages() {
            return messages.size();
        }

        void release() {
            for (RdmaReceive message; (message = messages.poll()) != null;) {
                message.release();
            }
        }

        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            messages.add((RdmaReceive) msg);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof RdmaConnectionRequest && !takesRequests) {
                ctx.fireUserEventTriggered(event);
            } else if (event instanceof RdmaReceive) {
                failedReceives.add((RdmaReceive) event);
            } else if (event instanceof RdmaChannelState) {
                states.add((RdmaChannelState) event);
            } else {
                super.userEventTriggered(ctx, event);
            }
        }
    }
}
