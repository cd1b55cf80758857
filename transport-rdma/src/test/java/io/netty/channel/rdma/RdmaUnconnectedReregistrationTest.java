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
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.ConnectedPair.Recorder;
import io.netty.channel.rdma.verbs.VerbsResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

import static io.netty.channel.rdma.Reregistration.deregister;
import static io.netty.channel.rdma.Reregistration.move;
import static io.netty.channel.rdma.Reregistration.register;
import static io.netty.channel.rdma.TestTimeouts.awaitTrue;
import static io.netty.channel.rdma.TestTimeouts.shutdown;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Channels that are bound, connecting or listening go from one event loop to another.
 */
@Tag("oldest")
class RdmaUnconnectedReregistrationTest {
    private final EventLoopGroup first = new RdmaEventLoopGroup(1);
    private final EventLoopGroup second = new RdmaEventLoopGroup(1);
    private final EventLoopGroup servers = new RdmaEventLoopGroup(1);
    private final EventLoopGroup children = new RdmaEventLoopGroup(1);
    /** Connections of the listener, each when it is active. */
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
    private final Recorder received = new Recorder();
    private int ids;
    private int queuePairs;
    private RdmaServerSocketChannel listener;

    @BeforeEach
    void listen() throws InterruptedException {
        ids = VerbsResource.CONNECTION_ID.live();
        queuePairs = VerbsResource.QUEUE_PAIR.live();
        listener = (RdmaServerSocketChannel) new ServerBootstrap().group(servers, children)
                .channel(RdmaServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public boolean isSharable() {
                        return true;
                    }

                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        ctx.pipeline().addLast(new Recorder());
                        accepted.add(ctx.channel());
                    }
                }).bind(TestAddress.anyPort()).sync().channel();
    }

    @AfterEach
    void close() throws InterruptedException {
        for (EventLoopGroup group : List.of(first, second, servers, children)) {
            shutdown(group);
        }
        received.release();
        assertThat(VerbsResource.CONNECTION_ID.live()).isEqualTo(ids);
        assertThat(VerbsResource.QUEUE_PAIR.live()).isEqualTo(queuePairs);
    }

    // ---- bound

    @Test
    void boundChannelConnectsOnItsNewLoop() throws Exception {
        Channel client = client().bind(TestAddress.anyPort()).sync().channel();
        InetSocketAddress bound = (InetSocketAddress) client.localAddress();
        move(client, second);
        assertThat(client.localAddress()).isEqualTo(bound);
        client.connect(listener.localAddress()).sync();
        assertThat(client.localAddress()).isEqualTo(bound);
        assertExchange(client, nextAccepted());
    }

    @Test
    void boundChannelIsClosedWithTheLoopThatItLeft() throws Exception {
        Channel client = client().bind(TestAddress.anyPort()).sync().channel();
        deregister(client);
        shutdown(first);
        awaitTrue(() -> VerbsResource.CONNECTION_ID.live() == ids + 1);
        assertNotRegistered(client);
    }

    // ---- connecting

    @Test
    void channelBecomesActiveOnTheLoopThatItMovesToWhileItConnects() throws Exception {
        Channel client = client().register().sync().channel();
        ChannelPromise connected = client.newPromise();
        // In one task, so that nothing of the connection manager comes in between.
        client.eventLoop().submit(() -> {
            client.connect(listener.localAddress(), connected);
            return client.deregister();
        }).get().sync();
        register(client, second.next());
        connected.sync();
        assertExchange(client, nextAccepted());
    }

    @Test
    void channelThatWaitsForTheAnswerGetsItOnItsNewLoop() throws Exception {
        CountDownLatch mayAccept = block(children.next());
        ChannelFuture connecting = client().connect(listener.localAddress());
        Channel client = connecting.channel();
        awaitTrue(() -> VerbsResource.QUEUE_PAIR.live() == queuePairs + 1);
        deregister(client);
        mayAccept.countDown();
        awaitTrue(() -> VerbsResource.QUEUE_PAIR.live() == queuePairs + 2);
        assertThat(connecting.isDone()).isFalse();
        register(client, second.next());
        connecting.sync();
        assertExchange(client, nextAccepted());
    }

    @Test
    void connectTimesOutOnTheNewLoop() throws Exception {
        CountDownLatch mayAccept = block(children.next());
        Channel client = client().option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 500).register().sync().channel();
        ChannelPromise connecting = client.newPromise();
        // In one task, so that the time is not over before the channel leaves this loop, however slow the machine is.
        client.eventLoop().submit(() -> {
            client.connect(listener.localAddress(), connecting);
            return client.deregister();
        }).get().sync();
        assertThat(connecting.isDone()).isFalse();
        // If it is over by then, the channel may be closed in the middle of this.
        TestTimeouts.await(second.register(client));
        TestTimeouts.await(connecting);
        assertThat(connecting.cause()).isInstanceOf(ConnectTimeoutException.class);
        TestTimeouts.await(client.closeFuture());
        mayAccept.countDown();
    }

    @Test
    void connectFailsIfTheChannelIsClosedBetweenTwoLoops() throws Exception {
        CountDownLatch mayAccept = block(children.next());
        ChannelFuture connecting = client().connect(listener.localAddress());
        awaitTrue(() -> VerbsResource.QUEUE_PAIR.live() == queuePairs + 1);
        deregister(connecting.channel());
        connecting.channel().close().sync();
        TestTimeouts.await(connecting);
        assertThat(connecting.cause()).isInstanceOf(ClosedChannelException.class);
        awaitTrue(() -> VerbsResource.QUEUE_PAIR.live() == queuePairs);
        mayAccept.countDown();
    }

    // ---- listening

    @Test
    void listenerAcceptsOnItsNewLoop() throws Exception {
        InetSocketAddress address = listener.localAddress();
        move(listener, second);
        assertThat(listener.localAddress()).isEqualTo(address);
        shutdown(servers);
        Channel client = client().connect(address).sync().channel();
        assertExchange(client, nextAccepted());
        listener.close().sync();
        client.close().sync();
        // The handler of the others can't be added again.
        ChannelFuture refused = client().handler(new ChannelInboundHandlerAdapter()).connect(address);
        assertThat(TestTimeouts.await(refused).cause()).isInstanceOf(ConnectException.class);
    }

    @Test
    void listenerComesBackToItsLoop() throws Exception {
        EventLoop home = listener.eventLoop();
        deregister(listener);
        register(listener, home);
        assertExchange(client().connect(listener.localAddress()).sync().channel(), nextAccepted());
        move(listener, second);
        deregister(listener);
        register(listener, home);
        Channel client = client().handler(new ChannelInboundHandlerAdapter()).connect(listener.localAddress()).sync()
                .channel();
        assertThat(nextAccepted().remoteAddress()).isEqualTo(client.localAddress());
    }

    /** As with TCP, where the kernel does that. */
    @Test
    void clientsConnectWhileTheListenerIsOnNoLoop() throws Exception {
        deregister(listener);
        Channel client = client().connect(listener.localAddress()).sync().channel();
        client.writeAndFlush(Unpooled.copyInt(5)).sync();
        assertThat(accepted.poll()).isNull();
        register(listener, second.next());
        Channel server = nextAccepted();
        assertThat(server.pipeline().get(Recorder.class).read(4)).containsExactly(0, 0, 0, 5);
        assertExchange(client, server);
    }

    @Test
    void requestsThatWaitComeAlongWithTheListener() throws Exception {
        listener.config().setAutoRead(false);
        List<Channel> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            clients.add(client().handler(new ChannelInboundHandlerAdapter())
                    .connect(listener.localAddress()).sync().channel());
        }
        move(listener, second);
        shutdown(servers);
        clients.get(0).close().sync();
        listener.config().setAutoRead(true);
        for (int i = 1; i < 4; i++) {
            clients.get(i).writeAndFlush(Unpooled.copyInt(i)).sync();
        }
        List<Byte> values = new ArrayList<>();
        while (values.size() < 3) {
            Channel server = nextAccepted();
            if (!server.remoteAddress().equals(clients.get(0).localAddress())) {
                values.add(server.pipeline().get(Recorder.class).read(4)[3]);
            }
        }
        assertThat(values).containsExactlyInAnyOrder((byte) 1, (byte) 2, (byte) 3);
    }

    @Test
    void listenerIsClosedWithTheLoopThatItLeft() throws Exception {
        listener.config().setAutoRead(false);
        deregister(listener);
        Channel client = client().connect(listener.localAddress()).sync().channel();
        shutdown(servers);
        TestTimeouts.await(client.closeFuture());
        awaitTrue(() -> VerbsResource.QUEUE_PAIR.live() == queuePairs);
        awaitTrue(() -> VerbsResource.CONNECTION_ID.live() == ids);
        assertNotRegistered(listener);
    }

    private Bootstrap client() {
        return new Bootstrap().group(first).channel(RdmaSocketChannel.class).handler(received);
    }

    /** Keeps the loop from doing anything until it may. */
    private static CountDownLatch block(EventLoop loop) {
        CountDownLatch latch = new CountDownLatch(1);
        loop.execute(() -> {
            try {
                latch.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        return latch;
    }

    private Channel nextAccepted() throws InterruptedException {
        return TestTimeouts.take(accepted, "a connection");
    }

    private void assertExchange(Channel client, Channel server) throws InterruptedException {
        client.writeAndFlush(Unpooled.copyInt(1));
        assertThat(server.pipeline().get(Recorder.class).read(4)).containsExactly(0, 0, 0, 1);
        server.writeAndFlush(Unpooled.copyInt(2));
        assertThat(received.read(4)).containsExactly(0, 0, 0, 2);
    }

    /** A handler that reads from the listener may forget to register the connection. */
    @Test
    void connectionThatWasNeverRegisteredIsClosedWithTheLoopOfItsListener() throws Exception {
        BlockingQueue<Object> read = new LinkedBlockingQueue<>();
        Channel forgetful = new RdmaServerSocketChannel();
        forgetful.config().setAutoRead(false);
        forgetful.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                read.add(msg);
            }
        });
        servers.register(forgetful).sync();
        forgetful.bind(TestAddress.anyPort()).sync();
        Channel client = client().connect(forgetful.localAddress()).sync().channel();
        forgetful.read();
        Channel server = (Channel) TestTimeouts.take(read, "a connection");
        shutdown(servers);
        TestTimeouts.await(client.closeFuture());
        children.register(server);
        TestTimeouts.await(server.closeFuture());
    }

    private void assertNotRegistered(Channel channel) throws InterruptedException {
        ChannelFuture registered = second.register(channel);
        TestTimeouts.await(registered);
        assertThat(registered.cause()).isInstanceOf(ClosedChannelException.class)
                .hasStackTraceContaining("the event loop that the channel was deregistered from has ended");
        assertThat(channel.isOpen()).isFalse();
    }
}
