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
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.grpc.RdmaGrpc;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.example.rdma.util.ClientTransport;
import io.netty.handler.ssl.SslContext;

import java.net.InetSocketAddress;

/**
 * Makes gRPC channels on any transport.
 */
public final class GrpcClient {
    private GrpcClient() {
    }

    /**
     * Returns a builder with the transport, the server and TLS, if any.
     *
     * @param transport with {@link ClientTransport#AUTO}, each connection takes RDMA if it can, else TCP
     * @param group     event loops of that transport
     * @param tls       {@code null} for no TLS, else from {@code GrpcSslContexts}
     */
    public static NettyChannelBuilder newChannel(ClientTransport transport, EventLoopGroup group,
                                                 InetSocketAddress server, SslContext tls) {
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(server);
        if (transport == ClientTransport.AUTO) {
            RdmaGrpc.of(group).configure(builder);
        } else if (transport == ClientTransport.RDMA) {
            RdmaGrpc.of(group).configure(builder, RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_ONLY));
        } else {
            builder.eventLoopGroup(group)
                    .channelType(transport.transport().channelType(), InetSocketAddress.class);
        }
        return tls == null ? builder.usePlaintext() : builder.sslContext(tls);
    }
}
