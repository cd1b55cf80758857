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
package io.netty.example.rdma.verbs;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Ends of programs, connected in this process, with an event loop for those that accept and one for the others.
 */
public final class EndPair implements AutoCloseable {
    private static final Duration BOUND = Duration.ofSeconds(TestTimeouts.SECONDS);

    /** Ways in which ends find each other. */
    public enum Way {
        CONNECTION_MANAGER, DESCRIPTORS
    }

    private final EventLoopGroup accepting = Transport.RDMA.newGroup(1, Waiting.DEFAULT);
    private final EventLoopGroup connecting = Transport.RDMA.newGroup(1, Waiting.DEFAULT);

    /**
     * Connects each end of one list to that of the other.
     *
     * @param folder for descriptors
     */
    public void connect(Way way, Path folder, List<? extends VerbsEnd> acceptors,
                        List<? extends VerbsEnd> connectors) throws Exception {
        if (way == Way.DESCRIPTORS) {
            // Each end waits for the other.
            CompletableFuture<Void> accepted = CompletableFuture.runAsync(() -> {
                try {
                    options("--descriptors", folder.toString()).accept(accepting, BOUND, acceptors);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            for (int i = 0; i < connectors.size(); i++) {
                options("--descriptors", folder.toString()).connect(connecting, BOUND, connectors.get(i), i);
            }
            TestTimeouts.result(accepted);
            return;
        }
        InetSocketAddress address = accept(acceptors);
        for (VerbsEnd connector : connectors) {
            connect(address, connector);
        }
    }

    /** Has these ends wait for peers, as a program that uses the connection manager itself. */
    InetSocketAddress adopt(List<? extends VerbsEnd> acceptors) throws Exception {
        return options("--port", "0", "--adopt").accept(accepting, BOUND, acceptors);
    }

    /** Has these ends wait for peers. */
    public InetSocketAddress accept(List<? extends VerbsEnd> acceptors) throws Exception {
        return options("--port", "0").accept(accepting, BOUND, acceptors);
    }

    /** Connects one more, by the connection manager. */
    public void connect(InetSocketAddress address, VerbsEnd connector) throws Exception {
        options("--port", Integer.toString(address.getPort())).connect(connecting, BOUND, connector, 0);
    }

    private static ConnectionOptions options(String... arguments) {
        List<String> all = new ArrayList<>(List.of("--host", RunningServer.HOST));
        all.addAll(List.of(arguments));
        Holder holder = new Holder();
        new CommandLine(holder).parseArgs(all.toArray(new String[0]));
        return holder.options;
    }

    @Override
    public void close() {
        // A shutdown without a quiet period may overtake the event loop's own closing of its channels.
        connecting.shutdownGracefully(10, 10_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
        accepting.shutdownGracefully(10, 10_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    }

    @Command
    private static final class Holder {
        @Mixin
        private ConnectionOptions options;
    }
}
