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
package io.netty.channel.rdma.differential;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Runs programs on both transports and compares.
 *
 * <p>What differs must be explained: epoll shows it too, if it runs the program often enough (where ends race with each
 * other, there is more than one outcome), or it is a {@link Difference}.
 */
final class Comparison {
    private static final int EPOLL_RUNS = 15;
    private static final int RDMA_RUNS = 3;

    private final Transport epoll = Transport.epoll();
    private final Transport rdma = Transport.rdma();
    private final Map<Difference, Integer> differences = new TreeMap<>();
    private int races;
    private long rdmaNanos;
    private long allNanos;

    Comparison() {
        Tls.load();
    }

    /** Why the program fails, beginning with a line about the whole; or {@code null}. */
    String failure(Program program) throws InterruptedException {
        long start = System.nanoTime();
        Outcome onRdma = Run.of(program, rdma);
        rdmaNanos += System.nanoTime() - start;
        List<Outcome> onEpoll = new ArrayList<>();
        onEpoll.add(Run.of(program, epoll));
        List<String> mismatches = mismatches(program, onRdma, onEpoll, false);
        if (!mismatches.isEmpty() && onRdma.violations().isEmpty()) {
            races++;
            for (int i = 1; i < EPOLL_RUNS && !mismatches.isEmpty(); i++) {
                onEpoll.add(Run.of(program, epoll));
                mismatches = mismatches(program, onRdma, onEpoll, i == EPOLL_RUNS - 1);
            }
        }
        allNanos += System.nanoTime() - start;
        if (mismatches.isEmpty()) {
            return null;
        }
        return "seed " + program.seed() + ": " + mismatches + '\n' + program + "---- epoll\n" +
                onEpoll.get(onEpoll.size() - 1).log() + "\n---- rdma\n" + onRdma.log();
    }

    private List<String> mismatches(Program program, Outcome onRdma, List<Outcome> onEpoll, boolean isLast) {
        List<String> mismatches = new ArrayList<>(onRdma.violations());
        for (Outcome outcome : onEpoll) {
            outcome.violations().forEach(violation -> mismatches.add("on epoll, too: " + violation));
        }
        boolean racing = isLast && (onRdma.racing() || onEpoll.stream().anyMatch(Outcome::racing));
        Set<String> names = new TreeSet<>(onRdma.items().keySet());
        onEpoll.forEach(outcome -> names.addAll(outcome.items().keySet()));
        for (String name : names) {
            String value = onRdma.items().get(name);
            Set<String> allowed = new HashSet<>();
            onEpoll.forEach(outcome -> allowed.add(outcome.items().get(name)));
            if (!allowed.contains(value) && !(racing && Races.explain(name, onRdma, allowed)) &&
                    !isExplained(program, name, onRdma, allowed)) {
                mismatches.add(name + ": " + value + " instead of " + allowed);
            }
        }
        return mismatches;
    }

    private boolean isExplained(Program program, String item, Outcome onRdma, Set<String> allowed) {
        for (Difference difference : Difference.values()) {
            if (allowed.stream().anyMatch(one -> difference.explains(item, onRdma, one, program))) {
                differences.merge(difference, 1, Integer::sum);
                return true;
            }
        }
        return false;
    }

    @Override
    public String toString() {
        return String.format("rdma %.1f s of %.1f, ", rdmaNanos / 1e9, allNanos / 1e9) + races +
                " with more than one run, differences " + differences;
    }

    void close() throws InterruptedException {
        epoll.close();
        rdma.close();
    }
}
