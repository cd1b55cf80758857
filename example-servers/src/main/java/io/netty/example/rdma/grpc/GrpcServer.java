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
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.example.rdma.util.Transport;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A gRPC server that is reached by RDMA and by TCP, at the same port number, or by TCP alone.
 *
 * <p>A {@link NettyServerBuilder} may listen on many addresses, but with one class of channel. RDMA and TCP have port
 * numbers of their own, so this is one {@link Server} for each, with the same services and the same event loops. An
 * event loop of RDMA serves epoll's channels, too.
 */
public final class GrpcServer {
    /** How often to look for a port number that is free in both port spaces. */
    private static final int PORT_ATTEMPTS = 20;

    private final List<Server> servers;
    private final InetSocketAddress address;

    private GrpcServer(List<Server> servers) {
        this.servers = servers;
        address = (InetSocketAddress) servers.get(0).getListenSockets().get(0);
    }

    /**
     * Starts it.
     *
     * @param transport with {@link Transport#RDMA}, clients of TCP are served as well
     * @param group     event loops of that transport
     * @param address   with port 0 any that is free
     * @param configure adds services and what else there is to set: called once for each builder
     * @throws IOException if the address can't be bound
     */
    public static GrpcServer start(Transport transport, EventLoopGroup group, InetSocketAddress address,
                                   Consumer<NettyServerBuilder> configure) throws IOException {
        // TCP first: a port number that is free there is likely to be free for RDMA.
        List<Transport> transports = transport == Transport.RDMA
                ? List.of(Transport.EPOLL, Transport.RDMA) : List.of(transport);
        for (int attempt = 1;; attempt++) {
            try {
                return new GrpcServer(start(transports, group, address, configure));
            } catch (IOException e) {
                boolean taken = e.getCause() instanceof BindException;
                if (!taken || address.getPort() != 0 || attempt == PORT_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private static List<Server> start(List<Transport> transports, EventLoopGroup group, InetSocketAddress address,
                                      Consumer<NettyServerBuilder> configure) throws IOException {
        List<Server> servers = new ArrayList<>();
        InetSocketAddress next = address;
        try {
            for (Transport transport : transports) {
                Server server = newServer(transport, group, next, configure).start();
                servers.add(server);
                next = new InetSocketAddress(address.getAddress(), server.getPort());
            }
            return servers;
        } catch (IOException | RuntimeException e) {
            servers.forEach(Server::shutdownNow);
            throw e;
        }
    }

    private static Server newServer(Transport transport, EventLoopGroup group, InetSocketAddress address,
                                    Consumer<NettyServerBuilder> configure) {
        NettyServerBuilder builder = NettyServerBuilder.forAddress(address)
                .bossEventLoopGroup(group)
                .workerEventLoopGroup(group)
                .channelType(transport.serverChannelType());
        if (transport == Transport.RDMA) {
            // Otherwise gRPC sets an allocator of its own, whose memory is not registered: sending would copy.
            builder.withChildOption(ChannelOption.ALLOCATOR, RdmaByteBufAllocator.DEFAULT);
        }
        configure.accept(builder);
        return builder.build();
    }

    /** Where it listens, the same for all transports. */
    public InetSocketAddress address() {
        return address;
    }

    /**
     * Stops listening, tells clients (GOAWAY), and waits for their calls to end. Those that have not ended in time are
     * cancelled.
     */
    public void shutdown(long timeout, TimeUnit unit) throws InterruptedException {
        servers.forEach(Server::shutdown);
        long deadline = System.nanoTime() + unit.toNanos(timeout);
        for (Server server : servers) {
            if (!server.awaitTermination(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                server.shutdownNow();
            }
        }
        for (Server server : servers) {
            server.awaitTermination();
        }
    }
}
