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
package io.netty.channel.rdma.ortcp;

import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.RdmaOrTcpEnds;
import io.netty.channel.rdma.support.VerbsPeer;
import io.netty.resolver.AbstractAddressResolver;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.support.RdmaOrTcpEnds.anyPort;
import static io.netty.channel.rdma.support.RdmaOrTcpEnds.connect;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Attempts to connect that are cancelled, or lose their event loop: they end, and nothing else is tried.
 */
class RdmaOrTcpCancellationTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private final RdmaOrTcpEnds ends = new RdmaOrTcpEnds(LOOPS.group());

    @Test
    void cancellingEndsTheAttemptAndTriesNothingElse() throws Exception {
        try (EchoServer server = ends.tcpServer(anyPort());
             VerbsPeer silent = VerbsPeer.listen(server.address())) {
            ChannelFuture connecting = ends.bootstrap().connect(server.address());
            silent.awaitRequest();
            assertThat(connecting.cancel(false)).isTrue();
            TestTimeouts.sync(connecting.channel().closeFuture());
            ends.assertUntouched(server);
        }
    }

    @Test
    void cancellingWhileANameIsResolvedTriesNothing() throws InterruptedException {
        Queue<Promise<InetSocketAddress>> resolving = new LinkedBlockingQueue<>();
        AddressResolverGroup<InetSocketAddress> resolver = new AddressResolverGroup<>() {
            @Override
            protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
                return new AbstractAddressResolver<>(executor) {
                    @Override
                    protected boolean doIsResolved(InetSocketAddress address) {
                        return !address.isUnresolved();
                    }

                    @Override
                    protected void doResolve(InetSocketAddress name, Promise<InetSocketAddress> promise) {
                        resolving.add(promise);
                    }

                    @Override
                    protected void doResolveAll(InetSocketAddress name, Promise<List<InetSocketAddress>> promise) {
                        promise.setFailure(new UnsupportedOperationException());
                    }
                };
            }
        };
        try (EchoServer server = ends.tcpServer(anyPort())) {
            ChannelFuture connecting = ends.bootstrap().resolver(resolver).connect("name", 7);
            TestTimeouts.awaitTrue(() -> !resolving.isEmpty());
            assertThat(connecting.cancel(false)).isTrue();
            resolving.remove().setSuccess(server.address());
            TestTimeouts.sync(connecting.channel().closeFuture());
            ends.assertUntouched(server);
        } finally {
            resolver.close();
        }
    }

    @Test
    void cancellingEndsTheAttemptOfTcp() throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        // Linux takes one more than the backlog says, and leaves further ones without an answer.
        try (ServerSocket full = new ServerSocket(0, 1, anyPort().getAddress());
             Socket first = new Socket(full.getInetAddress(), full.getLocalPort());
             Socket second = new Socket(full.getInetAddress(), full.getLocalPort())) {
            ChannelFuture connecting = ends.bootstrap().clone(group)
                    .connect(full.getInetAddress(), full.getLocalPort());
            // The registration, and the call of connect().
            TestTimeouts.sync(group.submit(() -> { }));
            TestTimeouts.sync(group.submit(() -> { }));
            assertThat(connecting.cancel(false)).isTrue();
            TestTimeouts.sync(connecting.channel().closeFuture());
            for (Socket expected : new Socket[] {first, second}) {
                try (Socket accepted = full.accept()) {
                    assertThat(accepted.getPort()).isEqualTo(expected.getLocalPort());
                }
            }
            try (Socket third = new Socket(full.getInetAddress(), full.getLocalPort()); Socket next = full.accept()) {
                assertThat(next.getPort()).isEqualTo(third.getLocalPort());
            }
        } finally {
            TestTimeouts.shutdown(group);
        }
    }

    @Test
    void cancelledBeforeItBeganDoesNothing() throws Exception {
        try (EchoServer server = ends.tcpServer(anyPort())) {
            CountDownLatch go = new CountDownLatch(1);
            EventLoopGroup group = new RdmaEventLoopGroup(1);
            try {
                group.submit(() -> go.await(TestTimeouts.SECONDS, TimeUnit.SECONDS));
                ChannelFuture connecting = ends.bootstrap().clone(group).connect(server.address());
                assertThat(connecting.cancel(false)).isTrue();
                go.countDown();
                TestTimeouts.sync(connecting.channel().closeFuture());
                ends.assertUntouched(server);
            } finally {
                TestTimeouts.shutdown(group);
            }
        }
    }

    @Test
    void loopsThatEndFailTheConnect() throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        try (EchoServer server = ends.tcpServer(anyPort());
             VerbsPeer silent = VerbsPeer.listen(server.address())) {
            ChannelFuture connecting = ends.bootstrap().clone(group).connect(server.address());
            silent.awaitRequest();
            TestTimeouts.shutdown(group);
            assertThat(TestTimeouts.await(connecting).cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(TestTimeouts.await(ends.bootstrap().clone(group).connect(server.address())).cause())
                    .isInstanceOf(RejectedExecutionException.class);
            ends.assertUntouched(server);
        } finally {
            TestTimeouts.shutdown(group);
        }
    }
}
