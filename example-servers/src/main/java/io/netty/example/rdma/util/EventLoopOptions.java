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
package io.netty.example.rdma.util;

import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.example.rdma.util.Transport.Waiting;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

import java.util.Locale;

/**
 * The command line options for event loops, and {@code --help}, shared by servers and clients.
 */
public final class EventLoopOptions {
    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @ArgGroup
    private Wait waiting = new Wait();

    @Option(names = "--threads", defaultValue = "1", description = "Event loop threads (default: ${DEFAULT-VALUE}).")
    private int threads;

    public MultiThreadIoEventLoopGroup newGroup(Transport transport) {
        return transport.newGroup(threads, waiting.chosen());
    }

    /** Returns the choices for users, with a comma before them, or an empty text. */
    @Override
    public String toString() {
        return waiting.chosen() == Waiting.DEFAULT ? "" : ", " + waiting.chosen().name().toLowerCase(Locale.ROOT);
    }

    /** At most one of these options. */
    private static final class Wait {
        @Option(names = "--polling", description = "Event loops poll and never sleep: lowest latency, a core each.")
        private boolean polling;

        @Option(names = "--sleeping", description = "Event loops sleep at once and never poll before that, which only "
                + "those of rdma do by default.")
        private boolean sleeping;

        Waiting chosen() {
            return polling ? Waiting.POLLING : sleeping ? Waiting.SLEEPING : Waiting.DEFAULT;
        }
    }
}
