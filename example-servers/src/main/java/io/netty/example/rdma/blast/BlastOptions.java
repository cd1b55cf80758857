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

    @Option(names = "--chain", defaultValue = "64", description = "Operations that are posted together, the last of "
            + "which asks for a completion; two chains are under way (default: ${DEFAULT-VALUE}).")
    private int chain;

    @Option(names = "--warm-up", defaultValue = "0",
            description = "Seconds of operations before those that count (default: ${DEFAULT-VALUE}).")
    private int warmUpSeconds;

    @Option(names = "--no-check", description = "Look only at what is there in the end, and have all operations go to "
            + "the same place, as perftest's programs do.")
    private boolean unchecked;

    VerbsOptions verbs() {
        return verbs;
    }

    Barrage barrage() {
        return new Barrage(mode, verbs.size(1, MAX_SIZE), verbs.count(),
                Duration.ofSeconds(warmUpSeconds), chain, !unchecked);
    }
}
