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
package io.netty.example.rdma.compare;

import io.netty.example.rdma.Transport;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures modes in turn, round by round, and tells what came of it.
 */
public final class Comparison {
    private final ComparisonOptions options;

    public Comparison(ComparisonOptions options) {
        this.options = options;
    }

    /**
     * Measures everything once in one mode.
     */
    @FunctionalInterface
    public interface Sample {
        /** Returns the lines of the measuring process, of which some are measurements. */
        List<String> take(Mode mode) throws IOException, InterruptedException;
    }

    /**
     * Measures all modes in every round.
     *
     * @throws IOException if a process fails. What it had to say it has said on the standard error output
     */
    public Results measure(List<Mode> modes, Sample sample) throws IOException, InterruptedException {
        warnIfBusy();
        Results results = new Results();
        for (int round = 0; round < options.rounds(); round++) {
            for (int i = 0; i < modes.size(); i++) {
                Mode mode = modes.get((round + i) % modes.size());
                System.out.printf("round %d of %d: %s%n", round + 1, options.rounds(), mode);
                for (String line : sample.take(mode)) {
                    Measurement measurement = Measurement.parse(line);
                    if (measurement != null) {
                        results.add(mode, measurement);
                    }
                }
            }
        }
        return results;
    }

    private static void warnIfBusy() {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        int cores = Runtime.getRuntime().availableProcessors();
        // A pair of polling processes needs two cores for itself.
        if (load > cores - 1) {
            System.out.printf("The machine is busy (load %.1f on %d cores): polling modes in particular will look "
                    + "worse than they are.%n", load, cores);
        }
    }

    /** Starts a process of the example, with the options by which all of them know their mode and the address. */
    public Child start(Class<?> main, Mode mode, List<String> arguments) throws IOException {
        List<String> all = new ArrayList<>(
                List.of("--transport", mode.transport().toString(), "--host", options.host()));
        if (mode.polling()) {
            all.add("--polling");
        }
        all.addAll(arguments);
        return new Child("io.netty.rdma.provider=" + options.provider(), main, all);
    }

    /** Prints tables and where they are from, and writes them to a file if that was asked for. */
    public void tell(String tables) throws IOException {
        int rounds = options.rounds();
        String report = rounds + (rounds == 1 ? " round" : " rounds")
                + (options.plan() == Plan.QUICK ? ", short ones" : "") + ", on " + Machine.describe()
                + (options.transports().contains(Transport.RDMA) ? ", " + options.provider() + " verbs provider" : "")
                + ".\n\n" + tables;
        System.out.println();
        System.out.print(report);
        if (options.markdown() != null) {
            Files.writeString(options.markdown(), report);
        }
    }
}
