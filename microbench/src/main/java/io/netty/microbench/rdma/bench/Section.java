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

import io.netty.microbench.rdma.load.EchoLoad;
import io.netty.microbench.rdma.report.Figure;

import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/**
 * Section of the report: a table and a plot of some scenarios.
 *
 * @param name      name of the plot's file
 * @param title     title for users
 * @param text      description of the figures
 * @param scenarios rows, for each subject that has any of them
 * @param plotted   the most important figure, which is compared with others'
 * @param figures   further columns
 */
record Section(String name, String title, String text, List<String> scenarios, Figure plotted, List<Figure> figures) {
    static final List<Integer> MESSAGES_CONNECTIONS = List.of(1, 16, 1024);
    static final List<Integer> PLAINTEXT_CONNECTIONS = List.of(1, 64);
    static final List<Integer> IDLE_CONNECTIONS = List.of(0, 100, 1000, 10_000);
    /** Messages a second. */
    static final List<Integer> PACED_RATES = List.of(100, 300, 1000, 3000, 10_000, 30_000, 100_000);
    static final List<Integer> PACED_CONNECTIONS = List.of(1, 16, 256);
    static final int BUSY_PROCESSES = 3;
    static final String BUSY = "round trips of 64 B beside " + BUSY_PROCESSES + " busy processes";
    /** Noise in percent of each core. */
    static final List<Integer> NOISE_PERCENT = List.of(5, 20);
    static final List<String> UNDER_NOISE = List.of(EchoLoad.roundTrips("", 64), EchoLoad.stream("", 64 << 10),
            plaintext(1));
    /** Connections that are set up at the same time. */
    static final List<Integer> AT_A_TIME = List.of(1, 16);
    static final String KEPT_OPEN = "connections kept open, 16 at a time";
    /** Seconds after the first connection of two processes. */
    static final List<Integer> COLD_SECONDS = List.of(1, 2, 5, 10, 30);
    /** Event loops at each end. 7 leave 2 of 16 cores to compilers and other threads. */
    static final List<Integer> SCALE_LOOPS = List.of(1, 2, 4, 7, 14, 28, 56);
    static final String IDLE = "one idle connection";
    static final String UNARY = "unary, 100 B";
    static final String UNARY_CALLS = "unary, 100 B, 64 calls";
    static final String SMALL_FILE = "file of 1 KiB";
    static final String RANGES = "range of 64 KiB, 8 pipelined";
    static final String LARGE_FILE = "file of 64 MiB";
    static final String AFTER_BURST = "one connection, idle after a burst";

    private static final String SCALE = "scale-";
    private static final List<String> SUMMARY = List.of("round-trips", "streams", "messages", "http", "grpc");
    private static final List<Figure> TAIL = List.of(Figure.P99, Figure.P999);
    private static final List<Figure> COST = List.of(Figure.CPU_PER_OPERATION, Figure.ALLOCATED);
    private static final List<Figure> LATENCY_AND_COST = List.of(Figure.P50, Figure.P99, Figure.P999,
            Figure.CPU_PER_OPERATION, Figure.ALLOCATED);

    static String messages(int connections) {
        return "messages, 64 under way, " + connections(connections);
    }

    static String plaintext(int connections) {
        return "plaintext, " + connections(connections);
    }

    static String roundTripsBeside(int idle) {
        return "round trips of 64 B beside " + idle;
    }

    static String shortConnections(int atATime) {
        return "connections with a round trip of 64 B, " + atATime + " at a time";
    }

    static String cold(int second) {
        return shortConnections(AT_A_TIME.get(AT_A_TIME.size() - 1)) + ", second " + second;
    }

    static String paced(int rate, int connections) {
        return "paced, " + connections(connections) + ", " + rate + " a second";
    }

    static String scaleMessages(int loops) {
        return "messages, " + ScaleLoad.BATCH + " under way, " + ScaleLoad.CONNECTIONS + " connections a loop, "
                + loops(loops);
    }

    static String scaleStreams(int loops) {
        return "streams of 64 KiB, " + ScaleLoad.STREAMS + " connections a loop, " + loops(loops);
    }

    static String scaleMany(int loops) {
        return "messages, " + ScaleLoad.MANY_BATCH + " under way, " + ScaleLoad.MANY + " connections, "
                + loops(loops);
    }

    static String scaleShort(int loops) {
        return "connections with a round trip of 64 B, " + ScaleLoad.CONNECTIONS + " at a time a loop, "
                + loops(loops);
    }

    private static String loops(int number) {
        return number + (number == 1 ? " loop" : " loops");
    }

    static String underNoise(String scenario, int percent) {
        return scenario + " under noise of " + percent + " %";
    }

    private static List<String> allUnderNoise(List<String> scenarios) {
        return scenarios.stream().flatMap(scenario -> NOISE_PERCENT.stream()
                .map(percent -> underNoise(scenario, percent))).toList();
    }

    private static String connections(int number) {
        return number + (number == 1 ? " connection" : " connections");
    }

    /** Returns the scenario that is the reference for the factors of the others, or {@code null} if there is none. */
    String alone() {
        return name.startsWith(SCALE) ? scenarios.get(0) : null;
    }

    /** Returns whether the section is one of the most important ones. */
    boolean inSummary() {
        return SUMMARY.contains(name);
    }

    /** Returns whether a scenario is in any section. */
    static boolean isShown(String scenario) {
        return all().stream().anyMatch(section -> section.scenarios().contains(scenario));
    }

    private static Section ofPaced(int connections) {
        return new Section("paced-" + connections, "Paced, " + connections(connections),
                "Echoes of 64 B, which are due at equal intervals, in turn on each connection, whether others "
                + "have come back or not. Latency is from when a message was due to the arrival of its echo. Lateness "
                + "is the part of it before the message was written: a timer of the client's event loop says when. "
                + "Where a rate is too high, the operations are fewer, and latency grows for as long as it is "
                + "measured. `rdma sleeping`: with `setMaxSpinMicros(0)`.",
                PACED_RATES.stream().map(rate -> paced(rate, connections)).toList(), Figure.P50,
                concat(TAIL, List.of(Figure.CLIENT_CPU, Figure.SERVER_CPU, Figure.LATENESS_P50, Figure.LATENESS_P99,
                        Figure.OPERATIONS)));
    }

    /** Returns whether a table has a figure of a scenario. */
    static boolean has(String scenario, Figure figure) {
        return all().stream().anyMatch(section -> section.scenarios().contains(scenario)
                && (section.plotted() == figure || section.figures().contains(figure)));
    }

    static List<Section> all() {
        return concat(ofOthers(), PACED_CONNECTIONS.stream().map(Section::ofPaced).toList());
    }

    private static List<Section> ofOthers() {
        return List.of(
                new Section("round-trips", "Round trips", "One message under way: from its flush to the arrival of all "
                        + "of its echo. The limit is a C program that copies messages through a ring in shared memory "
                        + "and back, both ends polling.",
                        List.of("round trips of 64 B", "round trips of 4 KiB", "round trips of 64 KiB",
                                "round trips of 1 MiB"),
                        Figure.P50, concat(TAIL, COST)),
                new Section("streams", "Streams", "One way, counted by the receiver; 10^9 bytes a second. The limit is "
                        + "a C program that copies in at one end of a ring in shared memory and out at the other, on "
                        + "two cores.",
                        List.of("a stream of writes of 64 KiB", "a stream of writes of 1 MiB"),
                        Figure.BYTES, List.of(Figure.CPU_PER_GIGABYTE, Figure.ALLOCATED)),
                new Section("messages", "Messages", "Echoes of 64 B, 64 under way on each connection. One event loop "
                        + "at each end.",
                        MESSAGES_CONNECTIONS.stream().map(Section::messages).toList(), Figure.OPERATIONS, COST),
                new Section("http", "HTTP/1.1", "GET of 13 bytes, checked, one request under way on each connection.",
                        PLAINTEXT_CONNECTIONS.stream().map(Section::plaintext).toList(), Figure.OPERATIONS,
                        LATENCY_AND_COST),
                new Section("grpc", "gRPC", "Unary calls of 100 B each way, checked, on one connection.",
                        List.of(UNARY, UNARY_CALLS), Figure.OPERATIONS,
                        LATENCY_AND_COST),
                new Section("small-files", "A small file", "By HTTP, each byte checked, one request under way.",
                        List.of(SMALL_FILE), Figure.OPERATIONS, LATENCY_AND_COST),
                new Section("large-files", "Large files", "By HTTP, each byte checked: that is most of the time.",
                        List.of(RANGES, LARGE_FILE), Figure.BYTES,
                        List.of(Figure.P50, Figure.CPU_PER_GIGABYTE, Figure.ALLOCATED)),
                new Section("idle-round-trips", "Round trips beside idle connections",
                        "64 B on one connection, while others are open and silent, and by how much the memory of the "
                        + "two processes grew with each of these: all that is resident, of the Java heap what is "
                        + "alive. What the kernel holds for a TCP or Unix socket is not in it; what RDMA shares "
                        + "between the two is in both. Netty's leak detection is off.",
                        IDLE_CONNECTIONS.stream().map(Section::roundTripsBeside).toList(), Figure.P50,
                        concat(TAIL, List.of(Figure.ALLOCATED, Figure.SERVER_MEMORY, Figure.CLIENT_MEMORY))),
                new Section("connections", "Connections",
                        "Set up, used for one round trip of 64 B, and closed by the client, or kept open. The rows of "
                        + "a second are of two processes that have just started, the others of the same processes "
                        + "when they are warm.",
                        Stream.of(COLD_SECONDS.stream().map(Section::cold),
                                AT_A_TIME.stream().map(Section::shortConnections), Stream.of(KEPT_OPEN))
                                .flatMap(names -> names).toList(),
                        Figure.OPERATIONS, List.of(Figure.P50, Figure.P99, Figure.CPU_PER_OPERATION,
                                Figure.ALLOCATED)),
                new Section("idle-cpu", "Idle processes",
                        "What two processes with one silent connection take of a core, but for JIT compilers. "
                        + "After a burst: from the moment in which the last message of many has arrived.",
                        List.of(IDLE, AFTER_BURST), Figure.SERVER_CPU, List.of(Figure.CLIENT_CPU)),
                new Section("busy", "Beside busy processes",
                        "Two pairs of processes with an event loop each, a message under way in each pair, while "
                        + "three other processes want all they can get of the cores. "
                        + "`rdma sleeping`: with `setMaxSpinMicros(0)`. What a pair does a second, for some seconds; "
                        + "where the kernel places the threads makes much of the difference between rounds.",
                        List.of(BUSY), Figure.OPERATIONS, concat(List.of(Figure.P50), concat(TAIL,
                                List.of(Figure.CPU_PER_OPERATION)))),
                new Section("noise", "Under noise", "While the C program `noise` takes each core at random for 0.2 to "
                        + "5 ms at a time, so much of it in all: as a neighbour does, a compiler's thread, or a pause "
                        + "of the virtual machine. For a second or two each.",
                        allUnderNoise(List.of(UNDER_NOISE.get(0), UNDER_NOISE.get(2))), Figure.OPERATIONS,
                        concat(List.of(Figure.P50), concat(TAIL, List.of(Figure.CPU_PER_OPERATION)))),
                new Section("noise-streams", "Streams under noise", "The same noise; 10^9 bytes a second.",
                        allUnderNoise(UNDER_NOISE.subList(1, 2)), Figure.BYTES, List.of(Figure.CPU_PER_GIGABYTE)),
                scale("messages", "Messages by many event loops", "Echoes of 64 B", Section::scaleMessages,
                        Figure.OPERATIONS, COST),
                scale("streams", "Streams by many event loops", "One way, counted by the receiver; 10^9 bytes a "
                        + "second", Section::scaleStreams, Figure.BYTES, List.of(Figure.CPU_PER_GIGABYTE)),
                scale("many", "Messages on many connections by many event loops", "Echoes of 64 B, the connections "
                        + "shared among the loops", Section::scaleMany, Figure.OPERATIONS, COST),
                scale("connections", "Connections by many event loops", "Set up, used for one round trip of 64 B, and "
                        + "closed by the client, by warm processes", Section::scaleShort, Figure.OPERATIONS,
                        List.of(Figure.P50, Figure.P99, Figure.CPU_PER_OPERATION)),
                new Section("wire-round-trips", "Round trips over the wire", "One message under way: from its flush to "
                        + "the arrival of all of its echo. `ib_send_lat` and `ib_write_lat` of perftest and `rstream` "
                        + "of rdma-core are C programs that poll. rstream has the protocol of the transport's streams, "
                        + "and tells the mean only. Figures of perftest, which are half round trips, are doubled.",
                        WireLoad.MESSAGE_BYTES.stream().map(bytes -> EchoLoad.roundTrips(WireLoad.WHERE, bytes))
                                .toList(), Figure.P50, concat(TAIL, COST)),
                new Section("wire-streams", "Streams over the wire", "One way, counted by the receiver; 10^9 bytes a "
                        + "second.",
                        List.of(EchoLoad.stream(WireLoad.WHERE, 64 << 10), EchoLoad.stream(WireLoad.WHERE, 1 << 20)),
                        Figure.BYTES, List.of(Figure.CPU_PER_GIGABYTE)),
                new Section("wake-ups", "What sleeping costs here",
                        "A C program: a process wakes another one by an "
                        + "eventfd that is in an epoll set, and is woken so itself. No transport whose ends sleep "
                        + "between messages is faster.",
                        List.of("wake-ups there and back on one core", "wake-ups there and back on two cores"),
                        Figure.P50, TAIL),
                new Section("memcpy", "What copying costs here",
                        "A C program: memcpy by one core, again and again from and to the same place.",
                        List.of("memcpy of 64 KiB", "memcpy of 1 MiB"), Figure.BYTES,
                        List.of()));
    }

    private static Section scale(String name, String title, String text, IntFunction<String> scenario, Figure plotted,
                                 List<Figure> figures) {
        return new Section(SCALE + name, title, text + ". So many event loops in each of the two processes; \"x 1 "
                + "loop\" is how many times as fast as one they are, in the same round.",
                SCALE_LOOPS.stream().map(scenario::apply).toList(), plotted, figures);
    }

    private static <T> List<T> concat(List<T> first, List<T> second) {
        return Stream.concat(first.stream(), second.stream()).toList();
    }
}
