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
package io.netty.channel.rdma.faults;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufHolder;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaConnectionRequest;
import io.netty.channel.rdma.message.RdmaDatagram;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.message.RdmaEndpoint;
import io.netty.channel.rdma.message.RdmaRendezvousHandler;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.util.ReferenceCountUtil;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Uses of channels, from the first object to the last. The {@link Attempt} notes failures, and closes open channels.
 */
enum Scenario {
    STREAM {
        @Override
        void run(EventLoopGroup group, Attempt attempt) throws Exception {
            Channel client = connect(group, attempt, RdmaServerSocketChannel.class, RdmaSocketChannel.class, false);
            exchange(client, attempt, Unpooled.wrappedBuffer(new byte[64]));
            exchange(client, attempt, Unpooled.directBuffer().writeZero(LARGE));
            exchange(client, attempt, client.alloc().buffer().writeZero(LARGE));
            client.close().sync();
        }
    },
    /** One of these is moved to another event loop and back. */
    MOVED_STREAM {
        @Override
        void run(EventLoopGroup group, Attempt attempt) throws Exception {
            Channel client = connect(group, attempt, RdmaServerSocketChannel.class, RdmaSocketChannel.class, false);
            for (int i = 0; i < 2; i++) {
                exchange(client, attempt, Unpooled.wrappedBuffer(new byte[SMALL]));
                attempt.sync(client.deregister());
                attempt.sync(group.next().register(client));
            }
            exchange(client, attempt, Unpooled.wrappedBuffer(new byte[SMALL]));
        }
    },
    MESSAGES {
        @Override
        void run(EventLoopGroup group, Attempt attempt) throws Exception {
            Channel client = connect(group, attempt, RdmaServerMessageChannel.class, RdmaMessageChannel.class, false);
            exchange(client, attempt, Unpooled.wrappedBuffer(new byte[64]));
            exchange(client, attempt, Unpooled.wrappedBuffer(new byte[SMALL]));
            RegisteredMemory memory = RegisteredMemory.allocate(SMALL, EnumSet.of(RdmaPermission.REMOTE_READ));
            attempt.atEnd(memory::close);
            exchange(client, attempt, memory.buf().retainedSlice(0, SMALL));
            ((RdmaMessageChannel) client).export(memory);
        }
    },
    /** Messages that are sent, and longer ones that the peer reads. */
    RENDEZVOUS {
        @Override
        void run(EventLoopGroup group, Attempt attempt) throws Exception {
            Channel client = connect(group, attempt, RdmaServerMessageChannel.class, RdmaMessageChannel.class, false,
                    RdmaRendezvousHandler::new);
            exchange(client, attempt, Unpooled.wrappedBuffer(new byte[64]));
            exchange(client, attempt, Unpooled.directBuffer().writeZero(SMALL));
            exchange(client, attempt, Unpooled.directBuffer().writeZero(LARGE));
            exchange(client, attempt, Unpooled.buffer().writeZero(LARGE));
            client.close().sync();
        }
    },
    SHARED_RECEIVES {
        @Override
        void run(EventLoopGroup group, Attempt attempt) throws Exception {
            Channel client = connect(group, attempt, RdmaServerMessageChannel.class, RdmaMessageChannel.class, true);
            exchange(client, attempt, Unpooled.wrappedBuffer(new byte[64]));
        }
    },
    /** Without the connection manager: one end by its address, the other by its device, with a receive of its own. */
    DESCRIPTORS {
        @Override
        void run(EventLoopGroup group, Attempt attempt) throws Exception {
            RegisteredMemory memory = RegisteredMemory.allocate(SMALL, EnumSet.of(RdmaPermission.LOCAL_WRITE));
            attempt.atEnd(memory::close);
            RdmaMessageChannel left =
                    (RdmaMessageChannel) attempt.sync(manual(group, attempt).bind(TestAddress.anyPort()));
            RdmaMessageChannel right = (RdmaMessageChannel) attempt.sync(manual(group, attempt)
                    .option(RdmaChannelOption.DEVICE, DEVICE).option(RdmaChannelOption.MANUAL_RECEIVES, true)
                    .register());
            // The future of a registration is done before the pipeline, and with it the attempt, knows the channel.
            right.eventLoop().submit(() -> { }).get(TestTimeouts.SECONDS, TimeUnit.SECONDS);
            ChannelFuture posted = attempt.note(right.postReceive(memory.slice(0, SMALL)));
            RdmaEndpoint end = TestTimeouts.sync(left.exportEndpoint()).getNow();
            attempt.sync(left.connect(TestTimeouts.sync(right.exportEndpoint()).getNow()));
            attempt.sync(right.connect(end));
            attempt.sync(posted);
            attempt.sync(left.writeAndFlush(Unpooled.wrappedBuffer(new byte[SMALL])));
        }
    },
    DATAGRAMS {
        @Override
        void run(EventLoopGroup group, Attempt attempt) throws Exception {
            RdmaDatagramChannel server = bind(group, attempt, new Echo(attempt));
            RdmaDatagramChannel client = bind(group, attempt);
            exchangeDatagram(client, attempt, Unpooled.wrappedBuffer(new byte[64]), server.localAddress());
            exchangeDatagram(client, attempt, Unpooled.wrappedBuffer(new byte[SMALL]), server.datagramAddress());
        }
    },
    GROUP {
        @Override
        void run(EventLoopGroup group, Attempt attempt) throws Exception {
            RdmaDatagramChannel channel = bind(group, attempt);
            if (channel.capabilities().supportsMulticast()) {
                InetAddress address = TestAddress.anyGroup();
                TestTimeouts.sync(channel.joinGroup(address));
                exchangeDatagram(channel, attempt, Unpooled.wrappedBuffer(new byte[64]),
                        new InetSocketAddress(address, 1));
                TestTimeouts.sync(channel.leaveGroup(address));
            }
        }
    };

    private static final String DEVICE = device();
    static final int LARGE = 1 << 20;
    static final int SMALL = 2000;

    abstract void run(EventLoopGroup group, Attempt attempt) throws Exception;

    static Channel connect(EventLoopGroup group, Attempt attempt, Class<? extends ServerChannel> server,
                           Class<? extends Channel> client, boolean sharesReceives) throws Exception {
        return connect(group, attempt, server, client, sharesReceives, null);
    }

    /** @param codec of both ends, or {@code null}. */
    static Channel connect(EventLoopGroup group, Attempt attempt, Class<? extends ServerChannel> server,
                           Class<? extends Channel> client, boolean sharesReceives,
                           Supplier<ChannelHandler> codec) throws Exception {
        ServerBootstrap listening = new ServerBootstrap().group(group).channel(server).handler(attempt.watch())
                .childHandler(initializer(codec, () -> new Echo(attempt), attempt));
        Bootstrap connecting = new Bootstrap().group(group).channel(client)
                .handler(initializer(codec, Replies::new, attempt));
        if (sharesReceives) {
            listening.childOption(RdmaChannelOption.SHARED_RECEIVE_QUEUE, true);
            connecting.option(RdmaChannelOption.SHARED_RECEIVE_QUEUE, true);
        }
        Channel listener = attempt.sync(listening.bind(TestAddress.anyPort()));
        return attempt.sync(connecting.connect(listener.localAddress()));
    }

    static RdmaDatagramChannel bind(EventLoopGroup group, Attempt attempt, ChannelHandler... handlers)
            throws Exception {
        ChannelHandler handler = handlers.length > 0 ? handlers[0] : new Replies();
        return (RdmaDatagramChannel) attempt.sync(new Bootstrap().group(group).channel(RdmaDatagramChannel.class)
                .handler(initializer(null, () -> handler, attempt)).bind(TestAddress.anyPort()));
    }

    private static Bootstrap manual(EventLoopGroup group, Attempt attempt) {
        return new Bootstrap().group(group).channel(RdmaMessageChannel.class)
                .handler(initializer(null, Replies::new, attempt)).option(RdmaChannelOption.RETRY_COUNT, 1)
                .option(RdmaChannelOption.ACK_TIMEOUT, 14).option(RdmaChannelOption.RNR_RETRY_COUNT, 0);
    }

    private static String device() {
        try {
            return TestAddress.device();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ChannelHandler initializer(Supplier<ChannelHandler> codec, Supplier<ChannelHandler> handler,
                                              Attempt attempt) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addLast(handler.get(), attempt.watch());
                if (codec != null) {
                    // After those that are told if it can't be added.
                    ch.pipeline().addFirst(codec.get());
                }
            }
        };
    }

    /** Writes, and waits until as many bytes have come back. */
    static void exchange(Channel channel, Attempt attempt, ByteBuf data) throws Exception {
        CompletableFuture<Void> replied = expect(channel, data);
        attempt.note(channel.writeAndFlush(attempt.writes(data))).addListener(written -> {
            if (!written.isSuccess()) {
                replied.completeExceptionally(written.cause());
            }
        });
        replied.get(TestTimeouts.SECONDS, TimeUnit.SECONDS);
    }

    /** A datagram may be lost: then it is sent again, unless something has failed, after which nobody may answer. */
    static void exchangeDatagram(Channel channel, Attempt attempt, ByteBuf data, SocketAddress to)
            throws Exception {
        CompletableFuture<Void> replied = expect(channel, data);
        attempt.writes(data);
        try {
            for (int tries = 0; !isOver(replied, attempt) && tries < TestTimeouts.SECONDS; tries++) {
                TestTimeouts.sync(channel.writeAndFlush(new RdmaDatagram(data.retainedDuplicate(), to)));
                replied.handle((ignore, cause) -> null).completeOnTimeout(null, 1, TimeUnit.SECONDS).join();
            }
        } finally {
            data.release();
        }
        if (!replied.isDone()) {
            throw new IllegalStateException("no reply");
        }
        replied.get();
    }

    /** A channel that a failure has closed has no handlers any more: then nobody would release what is not written. */
    private static CompletableFuture<Void> expect(Channel channel, ByteBuf data) throws ClosedChannelException {
        Replies replies = channel.pipeline().get(Replies.class);
        if (replies == null) {
            data.release();
            throw new ClosedChannelException();
        }
        return replies.expect(data.readableBytes());
    }

    private static boolean isOver(CompletableFuture<Void> replied, Attempt attempt) {
        return replied.isDone() || attempt.hasFailed();
    }

    /** Sends back what comes. */
    private static final class Echo extends ChannelInboundHandlerAdapter {
        private final Attempt attempt;

        Echo(Attempt attempt) {
            this.attempt = attempt;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            Object reply = msg;
            if (msg instanceof RdmaDatagram) {
                reply = new RdmaDatagram(((RdmaDatagram) msg).content(), ((RdmaDatagram) msg).sender());
            } else if (msg instanceof ByteBufHolder) {
                reply = ((ByteBufHolder) msg).content();
            }
            ChannelFuture written = attempt.note(ctx.writeAndFlush(reply));
            if (!(reply instanceof RdmaDatagram)) {
                // The peer waits for it.
                written.addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof RdmaConnectionRequest) {
                attempt.note(((RdmaConnectionRequest) event).accept());
            } else {
                ctx.fireUserEventTriggered(event);
            }
        }
    }

    /** Counts the bytes that come. */
    private static final class Replies extends ChannelInboundHandlerAdapter {
        private CompletableFuture<Void> replied = new CompletableFuture<>();
        private long expected;
        private boolean inactive;

        synchronized CompletableFuture<Void> expect(long bytes) {
            expected = bytes;
            replied = new CompletableFuture<>();
            if (inactive) {
                replied.completeExceptionally(new IllegalStateException("the channel was closed"));
            }
            return replied;
        }

        @Override
        public synchronized void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf content = msg instanceof ByteBufHolder ? ((ByteBufHolder) msg).content() : (ByteBuf) msg;
            expected -= content.readableBytes();
            ReferenceCountUtil.release(msg);
            if (expected <= 0) {
                replied.complete(null);
            }
        }

        @Override
        public synchronized void channelInactive(ChannelHandlerContext ctx) {
            inactive = true;
            replied.completeExceptionally(new IllegalStateException("the channel was closed"));
        }
    }
}
