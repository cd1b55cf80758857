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
package io.netty.channel.rdma.chaos;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server of streams, one of messages and a datagram channel, and connections to those of another node, all of them
 * busy.
 */
final class ChaosNode implements AutoCloseable {
    /** A connect that has failed can't become busy; the processors may be. */
    private static final int CONNECT_TIMEOUT_MILLIS = (int) TimeUnit.SECONDS.toMillis(15L * TestTimeouts.MULTIPLIER);

    private final EventLoopGroup group;
    private final Random random;
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private final Set<ChaosLoad> loads = ConcurrentHashMap.newKeySet();
    /** In words, those that have ended. */
    private final Queue<String> over = new ConcurrentLinkedQueue<>();
    private final Channel streams;
    private final Channel messages;
    private final ChaosDatagrams datagrams;

    ChaosNode(EventLoopGroup group, long seed) throws InterruptedException {
        this.group = group;
        random = new Random(seed);
        streams = listen(RdmaServerSocketChannel.class, this::streamLoad);
        messages = listen(RdmaServerMessageChannel.class, this::messageLoad);
        datagrams = new ChaosDatagrams(group, violations);
    }

    private Channel listen(Class<? extends ServerChannel> type, Supplier<ChaosLoad> load) throws InterruptedException {
        return TestTimeouts.sync(new ServerBootstrap().group(group).channel(type)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(load.get());
                    }
                }).bind(TestAddress.anyPort())).channel();
    }

    /** The ports, for {@link #connect}. */
    String ports() {
        return port(streams) + ' ' + port(messages) + ' ' + datagrams.address().getPort();
    }

    private static String port(Channel server) {
        return Integer.toString(((InetSocketAddress) server.localAddress()).getPort());
    }

    private ChaosLoad streamLoad() {
        return added(new ChaosStreamLoad(nextSeed(), violations));
    }

    private ChaosLoad messageLoad() {
        return added(new ChaosMessageLoad(nextSeed(), violations));
    }

    /** A server's loop asks as well. */
    private long nextSeed() {
        synchronized (random) {
            return random.nextLong();
        }
    }

    private ChaosLoad added(ChaosLoad load) {
        loads.add(load);
        load.over.thenRun(() -> {
            loads.remove(load);
            over.add(load.toString());
        });
        return load;
    }

    /** Begins to connect to another node, by so many connections of each kind. */
    void connect(String ports, int connections) {
        String[] port = ports.split(" ");
        Bootstrap bootstrap = new Bootstrap().group(group)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS);
        for (int i = 0; i < connections; i++) {
            connect(bootstrap.clone().channel(RdmaSocketChannel.class), streamLoad(), port[0]);
            connect(bootstrap.clone().channel(RdmaMessageChannel.class)
                    .option(RdmaChannelOption.SHARED_RECEIVE_QUEUE, i % 2 == 1), messageLoad(), port[1]);
        }
        datagrams.sendTo(new InetSocketAddress(TestAddress.HOST, Integer.parseInt(port[2])));
    }

    private void connect(Bootstrap bootstrap, ChaosLoad load, String port) {
        ChannelFuture connected = bootstrap.handler(load).connect(TestAddress.HOST, Integer.parseInt(port));
        connected.addListener(future -> {
            if (!future.isSuccess()) {
                if (!(future.cause() instanceof IOException)) {
                    violations.add("connect failed with " + future.cause());
                }
                over.add("connect: " + future.cause());
                load.over.complete(null);
            }
        });
    }

    /** Number of bytes that have arrived on existing connections. */
    long received() {
        return datagrams.received() + loads.stream().mapToLong(ChaosLoad::received).sum();
    }

    /** Waits until each connection is there, and has received something. */
    void awaitBusy(int connections) throws InterruptedException {
        try {
            TestTimeouts.awaitTrue(() -> isBusy(connections));
        } catch (AssertionError e) {
            throw new AssertionError("not " + connections + " busy connections: " + loads + ", over: " + over, e);
        }
    }

    /** Returns whether each connection is there, and has received something. */
    boolean isBusy(int connections) {
        return loads.size() == connections && loads.stream().allMatch(load -> load.received() != 0);
    }

    <T> void setOption(ChannelOption<T> option, T value) {
        loads.stream().filter(load -> load instanceof ChaosStreamLoad && load.channel() != null)
                .forEach(load -> load.channel().config().setOption(option, value));
    }

    /** The streams alone: what else there is has no time-outs of its own. */
    void awaitEndOfStreams() throws InterruptedException {
        awaitEnd(ChaosStreamLoad.class);
    }

    /** Waits until no connection is left and all writes have an outcome, also those of datagrams. */
    void awaitEnd() throws InterruptedException {
        awaitEnd(ChaosLoad.class);
        datagrams.check();
        assertThat(violations).isEmpty();
    }

    private void awaitEnd(Class<? extends ChaosLoad> kind) throws InterruptedException {
        try {
            TestTimeouts.awaitTrue(() -> loads.stream().noneMatch(kind::isInstance));
        } catch (AssertionError e) {
            throw new AssertionError("still there: " + loads, e);
        }
    }

    void closeConnections() {
        for (ChaosLoad load : loads) {
            Channel channel = load.channel();
            if (channel != null) {
                channel.close();
            }
        }
    }

    void assertNoViolation() {
        assertThat(violations).isEmpty();
    }

    @Override
    public void close() {
        datagrams.close();
        messages.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS);
        streams.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS);
    }
}
