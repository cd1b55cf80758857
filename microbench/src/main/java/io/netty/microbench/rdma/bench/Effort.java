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
 * @param name         in {@code results.json}
 * @param rounds       how often everything is measured at most, each time from fresh processes
 * @param longRounds   how often the parts that take longest are measured at most
 * @param maxSeconds   no round begins that would probably not have ended after so long
 * @param windowMillis how long one of the windows is, of which some in a row have to agree
 * @param limitMillis  when to give up on a scenario that does not settle
 * @param maxIdle      how many idle connections are opened at most
 * @param coldSeconds  for how many seconds connections of fresh processes are measured, before these are warmed up
 * @param rates        of paced messages, a second: some of {@link Section#PACED_RATES}
 * @param connections  on which these are sent: some of {@link Section#PACED_CONNECTIONS}
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

    /** In an emulated guest, where all takes some ten times as long. */
    static final Effort RXE = new Effort("rxe", 3, 3, 540, 400, 40_000, 100, 10, List.of(1000), List.of(1));

    /** Maximum time for the warm-up of fresh processes, for all scenarios together. */
    int warmUpMillis() {
        return Math.min(WARM_UP_LIMITS * limitMillis, MAX_WARM_UP_MILLIS);
    }

    /** So many rounds, however long they take. */
    Effort withRounds(int number) {
        return new Effort(name, number, number, Integer.MAX_VALUE, windowMillis, limitMillis, maxIdle,
                coldSeconds, rates, connections);
    }

    /** Maximum number of a part's rounds. */
    int rounds(Part part) {
        return Part.LONG.contains(part) ? longRounds : rounds;
    }

    /** Paced messages at these rates, on so many connections. */
    Effort withPaced(List<Integer> someRates, List<Integer> someConnections) {
        return new Effort(name, rounds, longRounds, maxSeconds, windowMillis, limitMillis, maxIdle,
                coldSeconds, someRates, someConnections);
    }
}
