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
package io.netty.microbench.rdma.bench;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.microbench.rdma.load.EchoLoad;
import io.netty.microbench.rdma.load.LoadClient;
import io.netty.microbench.rdma.load.Scenario;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.FastThreadLocal;
import picocli.CommandLine.Command;

import java.io.IOException;
import java.util.List;

/**
 * The measuring client of the part "scale", with several event loops. Each loop has its own connections, and its share
 * of the operations in flight.
 */
@Command(name = "scale-load", description = "Measures what event loops do together, beside an echo server.")
final class ScaleLoad extends LoadClient {
    /** Number of messages in flight on each connection, which are an operation. */
    static final int BATCH = 16;
    /** The same number with many connections. */
    static final int MANY_BATCH = 4;
    /** Connections of an event loop. */
    static final int CONNECTIONS = 16;
    /** Streams of an event loop. */
    static final int STREAMS = 2;
    /** Connections of all event loops together. */
    static final int MANY = 1024;

    private static final int PIECE_BYTES = 16 << 20;

    private ScaleLoad() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new ScaleLoad(), args));
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        Bootstrap bootstrap = bootstrap(options, group);
        int loops = 0;
        for (EventExecutor ignored : group) {
            loops++;
        }
        return List.of(
                new Scenario(Section.scaleMessages(loops), loops * CONNECTIONS, 0,
                        onEach(group, loop -> new EchoBatches(bootstrap.clone(loop), BATCH))),
                new Scenario(Section.scaleStreams(loops), loops * STREAMS, PIECE_BYTES,
                        onEach(group, loop -> EchoLoad.streams(options, loop, STREAMS, PIECE_BYTES))),
                new Scenario(Section.scaleShort(loops), loops * CONNECTIONS, 0,
                        onEach(group, loop -> new IdleLoad.ShortConnections(bootstrap.clone(loop)))),
                new Scenario(Section.scaleMany(loops), MANY, 0,
                        onEach(group, loop -> new EchoBatches(bootstrap.clone(loop), MANY_BATCH))));
    }

    private interface Operations {
        Scenario.Operation on(EventLoop loop) throws IOException, InterruptedException;
    }

    /** Returns an operation with connections of its own on each event loop, so that none of them needs a lock. */
    private static Scenario.Operation onEach(EventLoopGroup group, Operations operations)
            throws IOException, InterruptedException {
        FastThreadLocal<Scenario.Operation> own = new FastThreadLocal<>();
        for (EventExecutor loop : group) {
            Scenario.Operation operation = operations.on((EventLoop) loop);
            loop.submit(() -> own.set(operation)).sync();
        }
        return completion -> own.get().start(completion);
    }
}
