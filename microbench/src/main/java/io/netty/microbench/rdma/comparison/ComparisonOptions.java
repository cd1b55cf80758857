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
package io.netty.microbench.rdma.comparison;

import io.netty.example.rdma.util.Transport;
import io.netty.microbench.rdma.report.ChartOutput;
import io.netty.microbench.rdma.sample.Launcher;
import io.netty.microbench.rdma.sample.Pair;
import io.netty.microbench.rdma.sample.Settling;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.List;

/**
 * The command line options of every comparison.
 */
public final class ComparisonOptions {
    /** Maximum time of a warm-up with all scenarios, in multiples of the limit of a row. */
    private static final int WARM_UP_LIMITS = 2;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @ArgGroup
    private Length length = new Length();

    @Option(names = "--rounds", description = "So many rounds, however long they take (default: up to 3 in two "
            + "minutes; with --full 5, with --quick 1).")
    private Integer rounds;

    @Option(names = "--limit", paramLabel = "SECONDS",
            description = "Give up on a row that has not settled after so long, or sooner if time runs out, but not "
                    + "within a second (default: 8; with --full 10, with --quick 1.2).")
    private Double limitSeconds;

    @Option(names = "--transports", split = ",",
            description = "Transports to compare: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    List<Transport> transports;

    @Option(names = "--polling",
            description = "Also with event loops that never sleep, which take as long to warm up; always with --full.")
    private boolean polling;

    @Mixin
    Launcher launcher;

    /** File for the tables; {@code null} if they are only printed. */
    @Option(names = "--markdown", description = "Write the tables to this file too.")
    Path markdown;

    @Mixin
    ChartOutput charts;

    /** Creates the options of a comparison that compares RDMA with TCP by default. */
    public ComparisonOptions() {
        this(List.of(Transport.RDMA, Transport.EPOLL));
    }

    /**
     * Creates the options of a comparison.
     *
     * @param transports transports that are compared by default
     */
    ComparisonOptions(List<Transport> transports) {
        this.transports = transports;
    }

    /** At most one of these options. */
    private static final class Length {
        @Option(names = "--quick", description = "One short round: does it work?")
        private boolean quick;

        @Option(names = "--full", description = "Figures to quote: each round from fresh processes.")
        private boolean full;
    }

    Plan plan() {
        return length.quick ? Plan.QUICK : length.full ? Plan.FULL : Plan.DEFAULT;
    }

    /** Returns whether transports are also compared with event loops that never sleep. */
    boolean polling() {
        return polling || length.full;
    }

    int rounds() {
        return rounds != null ? rounds : plan().rounds;
    }

    /** Returns whether the rounds were set by an option, so that none is left out for lack of time. */
    boolean hasRounds() {
        return rounds != null;
    }

    int limitMillis() {
        return limitSeconds != null ? (int) (limitSeconds * 1000) : plan().limitMillis;
    }

    /** Maximum time for which new processes {@linkplain Pair#warmUp warm up} before the first scenario counts. */
    int warmUpMillis() {
        return WARM_UP_LIMITS * limitMillis();
    }

    /** Lengths of a comparison. */
    enum Plan {
        /**
         * For users who wait for it: the processes of a mode stay from round to round, so that they warm up only once.
         */
        DEFAULT(3, true, 100, 8000, 100),
        /** For figures to quote: new processes in each round, because their memory layout matters. */
        FULL(5, false, 200, 10_000, 3600),
        /** A test that everything works. Scenarios that do not settle in little more than a second are marked. */
        QUICK(1, false, 100, 1200, 60);

        /** Number of rounds, if there is time. */
        final int rounds;
        /** True if the processes of a mode live for all rounds, rather than for one. */
        final boolean keepsProcesses;
        /** Length of one of the windows of {@link Settling}. */
        final int windowMillis;
        /** Maximum time of a scenario in new processes, after which it is given up if it has not settled. */
        final int limitMillis;
        /** Time for everything. Rows share the remaining time, and no round begins that would end later. */
        final int maxSeconds;

        Plan(int rounds, boolean keepsProcesses, int windowMillis, int limitMillis, int maxSeconds) {
            this.rounds = rounds;
            this.keepsProcesses = keepsProcesses;
            this.windowMillis = windowMillis;
            this.limitMillis = limitMillis;
            this.maxSeconds = maxSeconds;
        }
    }
}
