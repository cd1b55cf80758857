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

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.grpc.RdmaGrpc;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.example.rdma.util.Transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A gRPC server on any transport. With {@link Transport#RDMA} the server also listens for TCP, at the same port number,
 * unless {@link RdmaOrTcpChoice} says otherwise.
 */
public final class GrpcServer {
    private final Server server;
    private final InetSocketAddress address;

    private GrpcServer(Server server) {
        this.server = server;
        address = (InetSocketAddress) server.getListenSockets().get(0);
    }

    /**
     * Starts a server.
     *
     * @param choice    transports that a server on RDMA listens for
     * @param group     event loops of the transport
     * @param address   with port 0, any port that is free
     * @param configure adds services and other settings
     * @throws IOException if the address can't be bound
     */
    public static GrpcServer start(Transport transport, RdmaOrTcpChoice choice, EventLoopGroup group,
                                   InetSocketAddress address, Consumer<NettyServerBuilder> configure)
            throws IOException {
        NettyServerBuilder builder = NettyServerBuilder.forAddress(address);
        if (transport == Transport.RDMA) {
            RdmaGrpc.of(group).configure(builder, RdmaOrTcpRule.always(choice));
        } else {
            builder.bossEventLoopGroup(group)
                    .workerEventLoopGroup(group)
                    .channelType(transport.serverChannelType());
        }
        configure.accept(builder);
        return new GrpcServer(builder.build().start());
    }

    /** Address where the server listens. */
    public InetSocketAddress address() {
        return address;
    }

    /**
     * Stops listening, tells clients (GOAWAY), and waits for their calls to end. Calls that have not ended in time are
     * cancelled.
     */
    public void shutdown(long timeout, TimeUnit unit) throws InterruptedException {
        if (!server.shutdown().awaitTermination(timeout, unit)) {
            server.shutdownNow().awaitTermination();
        }
    }
}
