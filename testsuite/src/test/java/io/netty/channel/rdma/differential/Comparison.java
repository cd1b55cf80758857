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

import io.netty.channel.rdma.TestAddress;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Runs programs on both transports and compares.
 *
 * <p>What differs must be explained: epoll shows it too, if it runs the program often enough (where ends race with each
 * other, there is more than one outcome), or the rules for {@link Races} allow it, or it is a {@link Difference}.
 */
final class Comparison {
    private static final int EPOLL_RUNS = 15;
    /** Attempts of a program that is being shrunk, because not every failure shows each time. */
    private static final int ATTEMPTS = 3;
    private static final String LANE = ("127.0.0.1".equals(TestAddress.HOST) ? "" : "rxe-") + "differential";

    private final Transport epoll = Transport.epoll();
    private final Transport rdma = Transport.rdma();
    private final Map<Difference, Integer> differences = new TreeMap<>();
    private int repeated;
    private int racing;
    private long receivedBytes;
    private long rdmaNanos;
    private long allNanos;

    Comparison() {
        Tls.load();
    }

    /** @param mismatches what can't be explained; never empty. */
    private record Failure(List<String> mismatches, Outcome rdma, Outcome epoll) {
        /** Kinds of the mismatches, whatever the numbers. */
        Set<String> kinds() {
            return mismatches.stream().map(text -> text.replaceAll("\\d+", "N").replaceAll(": N.*", ""))
                    .collect(Collectors.toSet());
        }

        boolean isLike(Failure other) {
            Set<String> both = kinds();
            both.retainAll(other.kinds());
            return !both.isEmpty();
        }

        String text(Program program) {
            return "  " + String.join("\n  ", mismatches) + '\n' + program + "---- epoll\n" + epoll.log() +
                    "\n---- rdma\n" + rdma.log();
        }
    }

    /** Why the program fails, beginning with a line about the whole; or {@code null}. */
    String failure(Program program) throws InterruptedException {
        Failure failure = run(program);
        if (failure == null) {
            return null;
        }
        Failure[] last = { failure };
        Program smallest = new Shrinker(program, smaller -> {
            for (int i = 0; i < ATTEMPTS; i++) {
                Failure again = tryRun(smaller);
                if (again != null && again.isLike(failure)) {
                    last[0] = again;
                    return true;
                }
            }
            return false;
        }).shrink();
        return "seed " + program.seed() + " (replay: ./run-tests.sh --seed " + program.seed() + ' ' + LANE + "): " +
                failure.mismatches.get(0) + '\n' + failure.text(program) +
                (smallest == program ? "\n" : "\n==== the same with less\n" + last[0].text(smallest) + '\n');
    }

    private Failure tryRun(Program program) {
        try {
            return run(program);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    private Failure run(Program program) throws InterruptedException {
        long start = System.nanoTime();
        Outcome onRdma = Run.of(program, rdma);
        rdmaNanos += System.nanoTime() - start;
        receivedBytes += Arrays.stream(Side.values())
                .mapToLong(side -> Long.parseLong(onRdma.items().getOrDefault(side + " received bytes", "0"))).sum();
        List<Outcome> onEpoll = new ArrayList<>();
        List<String> mismatches;
        do {
            onEpoll.add(Run.of(program, epoll));
            mismatches = mismatches(program, onRdma, onEpoll);
        } while (!mismatches.isEmpty() && onEpoll.size() < EPOLL_RUNS && onRdma.violations().isEmpty() &&
                onEpoll.get(0).violations().isEmpty());
        allNanos += System.nanoTime() - start;
        repeated += onEpoll.size() > 1 ? 1 : 0;
        return mismatches.isEmpty() ? null : new Failure(mismatches, onRdma, onEpoll.get(onEpoll.size() - 1));
    }

    private List<String> mismatches(Program program, Outcome onRdma, List<Outcome> onEpoll) {
        List<String> mismatches = new ArrayList<>(onRdma.violations());
        for (Outcome outcome : onEpoll) {
            outcome.violations().forEach(violation -> mismatches.add("on epoll, too: " + violation));
        }
        // The rules for races are for what epoll does not show.
        boolean isLast = onEpoll.size() == EPOLL_RUNS;
        if (isLast && (Races.isOfConnect(onRdma, onEpoll) || onEpoll.stream().allMatch(Comparison::isEpollBroken))) {
            // The runs can't be compared: a program whose connect fails ends there.
            racing++;
            return mismatches;
        }
        boolean isRacing = isLast && (onRdma.racing() || onEpoll.stream().anyMatch(Outcome::racing));
        boolean races = false;
        Set<String> names = new TreeSet<>(onRdma.items().keySet());
        onEpoll.forEach(outcome -> names.addAll(outcome.items().keySet()));
        for (String name : names) {
            String value = onRdma.items().get(name);
            Set<String> allowed = new HashSet<>();
            onEpoll.forEach(outcome -> allowed.add(outcome.items().get(name)));
            if (!allowed.contains(value) && !isExplained(program, name, onRdma, allowed)) {
                if (isRacing && Races.explain(name, onRdma, allowed)) {
                    races = true;
                } else {
                    mismatches.add(name + ": " + value + " instead of " + allowed);
                }
            }
        }
        racing += races ? 1 : 0;
        return mismatches;
    }

    /**
     * Netty's transport fails the flush of a large message after the peer's half close (4.2.17): it modifies the events
     * of a descriptor that it has removed from its epoll.
     */
    private static boolean isEpollBroken(Outcome outcome) {
        return outcome.items().values().stream()
                .anyMatch(value -> value.contains("UncheckedIOException by IOException"));
    }

    /** Programs that the rules for races excuse, those that were repeated to be shrunk included. */
    int racing() {
        return racing;
    }

    /** Bytes that have arrived on RDMA. */
    long receivedBytes() {
        return receivedBytes;
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
        return String.format("rdma %.1f s of %.1f, %d repeated on epoll, %d by the rules for races, differences %s",
                rdmaNanos / 1e9, allNanos / 1e9, repeated, racing, differences);
    }

    void close() throws InterruptedException {
        epoll.close();
        rdma.close();
    }
}
