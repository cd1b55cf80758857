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
package io.netty.example.rdma.util;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.util.Transport.Waiting;
import io.netty.util.concurrent.GlobalEventExecutor;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A server of the examples in this process, with an event loop of its own and one for its clients.
 */
public final class RunningServer implements AutoCloseable {
    public static final String HOST = TestAddress.HOST;
    /** Where everything takes several times as long, less does. */
    public static final boolean SLOW_MACHINE = TestTimeouts.MULTIPLIER > 1;
    /** Maximum seconds of a program that is started as a process. */
    public static final String TIMEOUT = Long.toString(60L * TestTimeouts.MULTIPLIER);

    private final Transport transport;
    private final EventLoopGroup serverGroup;
    private final EventLoopGroup clientGroup;
    private final ExampleServer server;
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();

    public RunningServer(Transport transport, ChannelHandler childHandler) throws Exception {
        this.transport = transport;
        serverGroup = transport.newGroup(1, Waiting.DEFAULT);
        clientGroup = transport.newGroup(1, Waiting.DEFAULT);
        server = ExampleServer.bind(transport, serverGroup, new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(childHandler);
                connections.add(channel);
                accepted.add(channel);
            }
        }, HOST, 0);
    }

    public int port() {
        return server.address().getPort();
    }

    public EventLoopGroup clientGroup() {
        return clientGroup;
    }

    /** The server's side of the next connection. */
    public Channel accepted() throws InterruptedException {
        return TestTimeouts.take(accepted, "a connection");
    }

    /** Transport of clients on the same transport. */
    public ClientTransport clientTransport() {
        return ClientTransport.valueOf(transport.name());
    }

    public Channel connect(ChannelHandler handler) throws InterruptedException {
        return clientTransport().connect(clientGroup, HOST, port(), handler);
    }

    /**
     * Waits until the channel has more to write than the peer takes, and is not read from for that reason. That may end
     * once more, as long as the system finds room for more of it.
     */
    public static void awaitFull(Channel channel) throws Exception {
        await(() -> channel.eventLoop().submit(() -> !channel.isWritable() && !channel.config().isAutoRead()).get());
    }

    /** Waits for what nothing tells. */
    public static void await(Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS);
        while (!condition.call()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not true within " + TestTimeouts.SECONDS + " s");
            }
            Thread.sleep(1);
        }
    }

    @Override
    public void close() {
        server.close().syncUninterruptibly();
        connections.close().syncUninterruptibly();
        // A shutdown without a quiet period may overtake the event loop's own closing of its channels.
        clientGroup.shutdownGracefully(10, 10_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
        serverGroup.shutdownGracefully(10, 10_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    }
}
