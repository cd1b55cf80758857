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
package io.netty.example.rdma.pingpong;

import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.verbs.EndCommand;
import io.netty.example.rdma.verbs.VerbsEnd;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.time.Duration;

/**
 * Either end of a ping-pong, as a command.
 */
public abstract class PingPongCommand extends EndCommand {
    private static final int MIN_SIZE = 8;
    private static final int MAX_SIZE = 16 << 20;

    @Option(names = "--mode", defaultValue = "WRITE", description = "Who does what: ${COMPLETION-CANDIDATES} (default: "
            + "${DEFAULT-VALUE}). CLIENT, SERVER: that end does all. UNSIGNALLED: as CLIENT, and nobody waits for the "
            + "write. WRITE: each writes, the data tell that they are there. READ: each reads, and acknowledges it. "
            + "READ_ONLY: each reads until the data are there. SEND: messages. WRITE_ACK, WRITE_IMM: each writes, and "
            + "tells it by a message or by immediate data. "
            + "SCAN: as WRITE, with random data. From SEND on, what comes back is what has arrived there.")
    private PingPongMode mode;

    @Option(names = "--warm-up", defaultValue = "0",
            description = "Seconds of round trips before those that count (default: ${DEFAULT-VALUE}).")
    private int warmUpSeconds;

    @Option(names = "--no-check", description = "Look at the last 8 bytes only, to measure no comparing.")
    private boolean unchecked;

    @Option(names = "--windows", description = "Print also when each fifth of the operations began, for the comparison "
            + "that runs both ends.")
    private boolean windows;

    private PingPongCommand(boolean client) {
        super(client);
    }

    @Override
    protected final VerbsEnd newEnd(VerbsOptions options, boolean isClient) {
        PingPongEnd end = PingPongEnd.create(new Game(mode, options.size(MIN_SIZE, MAX_SIZE), options.count(),
                Duration.ofSeconds(warmUpSeconds), !unchecked), isClient);
        end.tellWindows(windows);
        return end;
    }

    /** The end that accepts the connection. */
    @Command(name = "pingpong-server",
            description = "Plays ping-pong with one pingpong-client that has the same options.")
    public static final class PingPongServer extends PingPongCommand {
        public PingPongServer() {
            super(false);
        }

        public static void main(String[] args) {
            System.exit(Commands.run(new PingPongServer(), args));
        }
    }

    /** The end that connects. */
    @Command(name = "pingpong-client",
            description = "Plays ping-pong with a pingpong-server that has the same options.")
    public static final class PingPongClient extends PingPongCommand {
        public PingPongClient() {
            super(true);
        }

        public static void main(String[] args) {
            System.exit(Commands.run(new PingPongClient(), args));
        }
    }
}
