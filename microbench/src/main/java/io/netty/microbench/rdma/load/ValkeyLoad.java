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
package io.netty.microbench.rdma.load;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.rdma.valkey.RdmaValkeySocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.Transport;
import io.netty.microbench.rdma.load.ValkeyHandler.Exchange;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * The measuring client of Valkey's server.
 */
@Command(name = "valkey-load", description = "Measures SET and GET of Valkey and checks every answer.")
public final class ValkeyLoad extends LoadClient {
    private static final Map<Integer, String> SIZES = new TreeMap<>(Map.of(3, "3 B", 1 << 10, "1 KiB",
            64 << 10, "64 KiB", 1 << 20, "1 MiB"));
    private static final int IN_FLIGHT = 64;
    /** Bytes from which on bytes are counted, not operations. */
    private static final int LARGE = 64 << 10;
    /** All that is in flight: the default, 32 to 64 KiB, is for those who ask. */
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(64 << 20, 128 << 20);

    @Option(names = "--socket", description = "The server's Unix socket, for the transport unix.")
    private String socket;

    private ValkeyLoad() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new ValkeyLoad(), args));
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        ValkeyHandler handler = new ValkeyHandler();
        Channel channel = new Bootstrap().group(group).channel(channelType(options.transport().transport()))
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.config().setWriteBufferWaterMark(WATER_MARK);
                        ch.pipeline().addLast(handler);
                    }
                }).connect(address(options)).sync().channel();
        List<Scenario> scenarios = new ArrayList<>();
        for (Map.Entry<Integer, String> size : SIZES.entrySet()) {
            int length = size.getKey();
            Exchange set = Exchange.set(channel.alloc(), length);
            Exchange get = Exchange.get(channel.alloc(), length);
            // So that there is something to get.
            CompletableFuture<Throwable> stored = new CompletableFuture<>();
            channel.eventLoop().execute(() -> handler.send(set, stored::complete));
            Throwable cause = stored.get();
            if (cause != null) {
                throw new IOException("SET of " + size.getValue(), cause);
            }
            for (int inFlight : new int[] {1, IN_FLIGHT}) {
                for (Exchange exchange : List.of(set, get)) {
                    scenarios.add(new Scenario((exchange == set ? "SET of " : "GET of ") + size.getValue()
                            + (inFlight == 1 ? "" : ", " + inFlight + " in flight"), inFlight,
                            length >= LARGE ? length : 0,
                            (Scenario.Completion completion) -> handler.send(exchange, completion)));
                }
            }
        }
        return scenarios;
    }

    private static Class<? extends Channel> channelType(Transport transport) {
        return transport == Transport.RDMA ? RdmaValkeySocketChannel.class : transport.channelType();
    }

    private SocketAddress address(ClientOptions options) throws IOException {
        return options.transport().transport() == Transport.UNIX ? new DomainSocketAddress(socket)
                : new InetSocketAddress(options.host(), options.port());
    }
}
