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
package io.netty.example.rdma.blast;

import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.verbs.EndCommand;
import io.netty.example.rdma.verbs.VerbsEnd;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.time.Duration;

/**
 * Either end of a blast, as a command.
 */
public abstract class BlastCommand extends EndCommand {
    private static final int MAX_SIZE = 64 << 20;

    @Option(names = "--mode", defaultValue = "WRITE",
            description = "What the client does: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private BlastMode mode;

    @Option(names = "--by-server", description = "The server does it, and the client has the memory.")
    private boolean byServer;

    @Option(names = "--chain", defaultValue = "64", description = "Operations that are written together, the last of "
            + "which has a promise; two chains are under way, and the send queue is as deep as that takes (default: "
            + "${DEFAULT-VALUE}, up to 8000).")
    private int chain;

    @Option(names = "--warm-up", defaultValue = "0",
            description = "Seconds of operations before those that count (default: ${DEFAULT-VALUE}).")
    private int warmUpSeconds;

    @Option(names = "--no-check", description = "Look only at what is there in the end, and have all operations go to "
            + "the same place, as perftest's programs do.")
    private boolean unchecked;

    @Option(names = "--windows", description = "Print also when each fifth of the operations began, for the comparison "
            + "that runs both ends.")
    private boolean windows;

    private BlastCommand(boolean client) {
        super(client);
    }

    @Override
    protected final VerbsEnd newEnd(VerbsOptions options, boolean isClient) {
        BlastEnd end = new Barrage(mode, byServer, options.size(1, MAX_SIZE), options.count(),
                Duration.ofSeconds(warmUpSeconds), chain, !unchecked).end(isClient);
        end.tellWindows(windows);
        return end;
    }

    /** The end that accepts the connection. */
    @Command(name = "blast-server", description = "Has the memory for one blast-client that has the same options, or "
            + "writes to, or reads, that of the client.")
    public static final class BlastServer extends BlastCommand {
        public BlastServer() {
            super(false);
        }

        public static void main(String[] args) {
            System.exit(Commands.run(new BlastServer(), args));
        }
    }

    /** The end that connects. */
    @Command(name = "blast-client",
            description = "Writes to, or reads, the memory of a blast-server that has the same options.")
    public static final class BlastClient extends BlastCommand {
        public BlastClient() {
            super(true);
        }

        public static void main(String[] args) {
            System.exit(Commands.run(new BlastClient(), args));
        }
    }
}
