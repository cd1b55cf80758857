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
package io.netty.example.rdma.grpc;

import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpBootstrap;
import io.netty.example.rdma.util.ClientTransport;
import io.netty.example.rdma.util.Transport;
import io.netty.handler.ssl.SslContext;

import java.net.InetSocketAddress;

/**
 * Makes gRPC channels on any transport.
 */
public final class GrpcClient {
    private GrpcClient() {
    }

    /**
     * Finds out which transport leads to a server: RDMA if it can be connected, else TCP. Each client needs that once;
     * it costs a connection, which is closed again. Not to be called on an event loop.
     *
     * @param group event loops for RDMA, which serve epoll's channels, too
     * @throws Exception as {@link RdmaOrTcpBootstrap} does if neither can be connected
     */
    public static Transport transportTo(EventLoopGroup group, InetSocketAddress server) throws Exception {
        return ClientTransport.AUTO.find(group, server);
    }

    /**
     * Returns a builder that knows the transport, the server and whether to encrypt.
     *
     * @param group event loops of that transport
     * @param tls   {@code null} for no TLS, else from {@code GrpcSslContexts}
     */
    public static NettyChannelBuilder newChannel(Transport transport, EventLoopGroup group, InetSocketAddress server,
                                                 SslContext tls) {
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(server)
                .eventLoopGroup(group)
                .channelType(transport.channelType(), InetSocketAddress.class);
        if (transport == Transport.RDMA) {
            // Otherwise gRPC sets an allocator of its own, whose memory is not registered: sending would copy.
            builder.withOption(ChannelOption.ALLOCATOR, RdmaByteBufAllocator.DEFAULT);
        }
        return tls == null ? builder.usePlaintext() : builder.sslContext(tls);
    }
}
