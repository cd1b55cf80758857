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
package io.netty.channel.rdma.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;
import io.netty.channel.rdma.support.VerbsPeer;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketConnectionAttemptTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Upstream's peers are an address of the Internet that never answers, and a port of the loopback address on which
 * nobody listens. Here they are a listener that never answers, and a port of an RDMA device's address that was just
 * given back.
 */
public class RdmaSocketConnectionAttemptTest extends SocketConnectionAttemptTest {
    @Override
    protected List<BootstrapFactory<Bootstrap>> newFactories() {
        return RdmaSocketTestPermutation.INSTANCE.clientSocket();
    }

    @Override
    protected List<ByteBufAllocator> newAllocators() {
        return RdmaSocketTestPermutation.newAllocators();
    }

    @Override
    protected SocketAddress newSocketAddress() {
        return RdmaSocketTestPermutation.newSocketAddress();
    }

    @Override
    public void testConnectTimeout(Bootstrap cb) throws Throwable {
        try (VerbsPeer silent = VerbsPeer.listen((InetSocketAddress) newSocketAddress())) {
            cb.handler(new ChannelInboundHandlerAdapter()).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 2000);
            ChannelFuture future = cb.connect(silent.localAddress());
            try {
                TestTimeouts.await(future);
                assertFalse(future.isSuccess());
            } finally {
                future.channel().close();
            }
        }
    }

    @Override
    public void testConnectRefused(Bootstrap cb) throws Throwable {
        testConnectRefused0(cb, false);
    }

    @Override
    public void testConnectRefusedHalfClosure(Bootstrap cb) throws Throwable {
        testConnectRefused0(cb, true);
    }

    private void testConnectRefused0(Bootstrap cb, boolean halfClosure) throws Throwable {
        SocketAddress unassigned;
        try (BlockingServerSocket listener = new BlockingServerSocket()) {
            listener.bind(newSocketAddress());
            unassigned = listener.getLocalSocketAddress();
        }
        AtomicBoolean active = new AtomicBoolean();
        cb.handler(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                active.set(true);
            }
        });
        cb.option(ChannelOption.ALLOW_HALF_CLOSURE, halfClosure);
        ChannelFuture future = TestTimeouts.await(cb.connect(unassigned));
        assertInstanceOf(ConnectException.class, future.cause());
        assertFalse(active.get());
    }

    @Test
    @Override
    public void testConnectCancellation(TestInfo testInfo) throws Throwable {
        run(testInfo, this::testConnectCancellation);
    }

    @Override
    public void testConnectCancellation(Bootstrap cb) throws Throwable {
        try (VerbsPeer silent = VerbsPeer.listen((InetSocketAddress) newSocketAddress())) {
            cb.handler(new ChannelInboundHandlerAdapter()).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0);
            ChannelFuture future = cb.connect(silent.localAddress());
            try {
                silent.awaitRequest();
                assertFalse(future.isDone());
                assertTrue(future.cancel(true));
                TestTimeouts.await(future.channel().closeFuture());
                assertTrue(future.isCancelled());
            } finally {
                future.channel().close();
            }
        }
    }
}
