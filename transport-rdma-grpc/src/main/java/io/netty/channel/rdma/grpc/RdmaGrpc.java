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
package io.netty.channel.rdma.grpc;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.internal.ObjectUtil;

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * Lets gRPC servers and channels of {@code grpc-netty} run over RDMA.
 *
 * <pre>{@code
 * try (RdmaGrpc rdma = RdmaGrpc.create()) {
 *     Server server = rdma.configure(NettyServerBuilder.forPort(8980)).addService(service).build().start();
 *     ManagedChannel channel = rdma.configure(NettyChannelBuilder.forAddress("host", 8980)).usePlaintext().build();
 *     ...
 * }
 * }</pre>
 *
 * <p>It only sets event loops, channel types and allocator of a builder. The application sets TLS, flow control,
 * keep-alive and limits, before or after. Any number of servers and channels share one event loop group. They end when
 * they are shut down, and the loops with {@link #close()}. Any thread.
 */
public final class RdmaGrpc implements AutoCloseable {
    private static final long QUIET_MILLIS = 20;
    private static final long SHUTDOWN_MILLIS = TimeUnit.SECONDS.toMillis(10);

    private final EventLoopGroup group;
    private final boolean owned;

    private RdmaGrpc(EventLoopGroup group, boolean owned) {
        this.group = group;
        this.owned = owned;
    }

    /**
     * Creates an object with its own event loops, as many as Netty's default (two for each core), which {@link
     * #close()} ends. Their threads are daemons, like gRPC's.
     */
    public static RdmaGrpc create() {
        return new RdmaGrpc(RdmaOrTcp.newEventLoopGroup(0, new DefaultThreadFactory("grpc-rdma", true)), true);
    }

    /**
     * Creates an object with the application's event loops, which the application ends after the servers and channels.
     *
     * @param group from {@link RdmaOrTcp#newEventLoopGroup(int)}, or with a
     *              {@link io.netty.channel.rdma.RdmaIoHandler}.
     */
    public static RdmaGrpc of(EventLoopGroup group) {
        return new RdmaGrpc(ObjectUtil.checkNotNull(group, "group"), false);
    }

    /**
     * Sets channel type, event loops and allocator of a server. The server listens for RDMA and TCP at the same port,
     * and for TCP alone if RDMA is not available.
     *
     * @return the builder.
     */
    public NettyServerBuilder configure(NettyServerBuilder builder) {
        return configure(builder, RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_OR_TCP));
    }

    /**
     * As {@link #configure(NettyServerBuilder)}, with the choice of RDMA and TCP by the address that is bound.
     *
     * @return the builder.
     */
    public NettyServerBuilder configure(NettyServerBuilder builder, RdmaOrTcpRule rule) {
        ObjectUtil.checkNotNull(rule, "rule");
        return builder.channelFactory(() -> Connections.watchChildren(new RdmaOrTcpServerSocketChannel(rule)))
                .bossEventLoopGroup(group)
                .workerEventLoopGroup(group)
                // Otherwise gRPC sets its own allocator, whose memory is not registered, so that each send would copy.
                .withChildOption(ChannelOption.ALLOCATOR, RdmaByteBufAllocator.DEFAULT);
    }

    /**
     * Sets channel type, event loops and allocator of a client's channel. Each of its connections takes RDMA if it can,
     * else TCP: see {@link RdmaOrTcpSocketChannel}.
     *
     * @return the builder.
     */
    public NettyChannelBuilder configure(NettyChannelBuilder builder) {
        return configure(builder, RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_OR_TCP));
    }

    /**
     * As {@link #configure(NettyChannelBuilder)}, with the choice of RDMA and TCP by the address of the server, one of
     * those that gRPC's name resolver found.
     *
     * @return the builder.
     */
    public NettyChannelBuilder configure(NettyChannelBuilder builder, RdmaOrTcpRule rule) {
        ObjectUtil.checkNotNull(rule, "rule");
        return builder.channelFactory(() -> Connections.watch(new RdmaOrTcpSocketChannel(rule)),
                        InetSocketAddress.class)
                .eventLoopGroup(group)
                .withOption(ChannelOption.ALLOCATOR, RdmaByteBufAllocator.DEFAULT);
    }

    /**
     * Transport of a call's connection.
     *
     * @param attributes of a {@link io.grpc.ServerCall}, or of a {@link io.grpc.ClientCall} that has a connection.
     * @return {@code null} if the connection is not one of this class, or is closed.
     */
    public static RdmaOrTcpTransport transport(Attributes attributes) {
        Channel channel = channel(attributes);
        return channel == null ? null : channel.attr(RdmaOrTcp.TRANSPORT).get();
    }

    /**
     * The Netty channel of the connection of a call, for its metrics and attributes. It belongs to gRPC, so only read
     * from it. A client's is a {@link RdmaOrTcpSocketChannel}, whose {@code transportChannel()} has the metrics; a
     * server's is an {@link io.netty.channel.rdma.RdmaSocketChannel} or one of TCP.
     *
     * @param attributes of a {@link io.grpc.ServerCall}, or of a {@link io.grpc.ClientCall} that has a connection.
     * @return {@code null} if the connection is not one of this class, or is closed.
     */
    public static Channel channel(Attributes attributes) {
        return Connections.byLocalAddress(attributes.get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR));
    }

    /**
     * Ends the event loops of {@link #create()}, and waits for their end for at most 10 s. Shut down servers and
     * channels before, because the loops close their connections. Not to be called on a loop.
     */
    @Override
    public void close() {
        if (owned) {
            group.shutdownGracefully(QUIET_MILLIS, SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS)
                    .awaitUninterruptibly(SHUTDOWN_MILLIS);
        }
    }
}
