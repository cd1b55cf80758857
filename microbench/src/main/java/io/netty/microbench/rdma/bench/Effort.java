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

import java.util.List;

/**
 * Extent of a run.
 *
 * @param name         name in {@code results.json}
 * @param rounds       maximum number of rounds, each with new processes
 * @param longRounds   maximum number of rounds of the parts that take longest
 * @param maxSeconds   no round begins that would probably end later than this
 * @param windowMillis length of a window; some windows in a row have to agree
 * @param limitMillis  time after which a scenario that does not settle is given up
 * @param maxIdle      maximum number of idle connections
 * @param coldSeconds  seconds for which connections of new processes are measured before the warm-up
 * @param rates        rates of paced messages, a second: some of {@link Section#PACED_RATES}
 * @param connections  numbers of connections for paced messages: some of {@link Section#PACED_CONNECTIONS}
 */
record Effort(String name, int rounds, int longRounds, int maxSeconds, int windowMillis, int limitMillis,
              int maxIdle, int coldSeconds, List<Integer> rates, List<Integer> connections) {
    private static final int WARM_UP_LIMITS = 3;
    private static final int MAX_WARM_UP_MILLIS = 40_000;

    /** Shows that everything works. */
    static final Effort QUICK = new Effort("quick", 1, 1, 120, 200, 2000, 1000, 2, List.of(1000, 10_000), List.of(1));
    static final Effort DEFAULT = new Effort("default", 3, 2, 1340, 150, 4000, 10_000, 30,
            List.of(300, 3000, 10_000, 100_000), List.of(1, 16));
    /** For figures to quote. */
    static final Effort FULL = new Effort("full", 5, 5, 7200, 200, 8000, 10_000, 30, Section.PACED_RATES,
            Section.PACED_CONNECTIONS);

    /** For an emulated guest, where everything takes some ten times as long. */
    static final Effort RXE = new Effort("rxe", 3, 3, 540, 400, 40_000, 100, 10, List.of(1000), List.of(1));

    /** Maximum time of the warm-up of new processes, for all scenarios together. */
    int warmUpMillis() {
        return Math.min(WARM_UP_LIMITS * limitMillis, MAX_WARM_UP_MILLIS);
    }

    /** Returns the same with this number of rounds, without a limit of time. */
    Effort withRounds(int number) {
        return new Effort(name, number, number, Integer.MAX_VALUE, windowMillis, limitMillis, maxIdle,
                coldSeconds, rates, connections);
    }

    /** Maximum number of a part's rounds. */
    int rounds(Part part) {
        return Part.LONG.contains(part) ? longRounds : rounds;
    }

    /** Returns the same with paced messages at these rates, on these numbers of connections. */
    Effort withPaced(List<Integer> someRates, List<Integer> someConnections) {
        return new Effort(name, rounds, longRounds, maxSeconds, windowMillis, limitMillis, maxIdle,
                coldSeconds, someRates, someConnections);
    }
}
