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

import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.time.Duration;

/**
 * The command line options of both ends.
 */
final class BlastOptions {
    private static final int MAX_SIZE = 64 << 20;

    @Mixin
    private VerbsOptions verbs;

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

    VerbsOptions verbs() {
        return verbs;
    }

    BlastEnd newEnd(boolean client) {
        BlastEnd end = barrage().end(client);
        end.tellWindows(windows);
        return end;
    }

    private Barrage barrage() {
        return new Barrage(mode, byServer, verbs.size(1, MAX_SIZE), verbs.count(),
                Duration.ofSeconds(warmUpSeconds), chain, !unchecked);
    }
}
