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
package io.netty.example.rdma.http2;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.http.BodyCheck;
import io.netty.example.rdma.http.HttpLimits;
import io.netty.example.rdma.http.HttpServerHandler;
import io.netty.example.rdma.util.ExampleServer;
import io.netty.example.rdma.util.PatternInput;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import io.netty.handler.ssl.SslContext;

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * An HTTP/2 server on one transport, and what a client needs.
 */
final class Http2Pair implements AutoCloseable {
    /** A kernel device has no loopback address. */
    static final HttpLimits LIMITS = new HttpLimits(0, Long.MAX_VALUE);
    static final String HOST = TestAddress.HOST;

    /** Streams that the server has, and connections of HTTP/1.1. */
    final AtomicInteger open = new AtomicInteger();
    final EventLoopGroup group;
    final Http2ServerInitializer connections;
    final ExampleServer server;
    private final Bootstrap client;
    private final SslContext clientTls;

    Http2Pair(Transport transport) throws Exception {
        this(transport, null, null);
    }

    Http2Pair(Transport transport, SslContext serverTls, SslContext clientTls) throws Exception {
        this(transport, serverTls, clientTls, () -> new HttpServerHandler(LIMITS));
    }

    Http2Pair(Transport transport, SslContext serverTls, SslContext clientTls, Supplier<ChannelHandler> requestHandler)
            throws Exception {
        this.clientTls = clientTls;
        group = transport.newGroup(2, Waiting.DEFAULT);
        connections = new Http2ServerInitializer(serverTls, LIMITS, () -> new Counted(requestHandler.get()),
                TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS));
        server = ExampleServer.bind(transport, group, connections, HOST, 0);
        client = new Bootstrap().group(group).channel(transport.channelType());
    }

    InetSocketAddress address() {
        return server.address();
    }

    Http2Client connect(Http2Client.Start start) throws Exception {
        return TestTimeouts.result(Http2Client.connect(client, address(), clientTls, start));
    }

    /** A client of another transport, by prior knowledge. */
    Http2Client connect(Transport transport) throws Exception {
        return TestTimeouts.result(Http2Client.connect(new Bootstrap().group(group).channel(transport.channelType()),
                address(), clientTls, Http2Client.Start.PRIOR_KNOWLEDGE));
    }

    Http2Client connect() throws Exception {
        return connect(Http2Client.Start.PRIOR_KNOWLEDGE);
    }

    /** Gets so many bytes. */
    static Exchange get(Http2Client client, long bytes) {
        return client.get("/bytes/" + bytes, BodyCheck.pattern(bytes));
    }

    /** Has so many bytes sent back. */
    static Exchange echo(Http2Client client, long bytes) {
        return client.post("/echo", new PatternInput(bytes), BodyCheck.pattern(bytes));
    }

    @Override
    public void close() {
        try {
            TestTimeouts.awaitTrue(() -> open.get() == 0);
            TestTimeouts.sync(server.close());
            TestTimeouts.result(connections.shutdown());
            TestTimeouts.shutdown(group);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Adds the handler of requests and counts its channel. */
    private final class Counted extends ChannelInboundHandlerAdapter {
        private final ChannelHandler handler;

        Counted(ChannelHandler handler) {
            this.handler = handler;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            open.incrementAndGet();
            ctx.channel().closeFuture().addListener(closed -> open.decrementAndGet());
            ctx.pipeline().addLast(handler);
        }
    }
}
