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

import io.netty.example.rdma.files.FileServer;
import io.netty.example.rdma.grpc.GrpcServerCommand;
import io.netty.example.rdma.http.HttpServer;
import io.netty.example.rdma.util.Measurement;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import io.netty.microbench.rdma.comparison.LimitProgram;
import io.netty.microbench.rdma.load.EchoLoad;
import io.netty.microbench.rdma.load.EchoLoadServer;
import io.netty.microbench.rdma.load.FileLoad;
import io.netty.microbench.rdma.load.GrpcLoad;
import io.netty.microbench.rdma.load.LoadClient;
import io.netty.microbench.rdma.process.Child;
import io.netty.microbench.rdma.report.Readings;
import io.netty.microbench.rdma.sample.Launcher;
import io.netty.microbench.rdma.sample.Mode;
import io.netty.microbench.rdma.sample.Pair;
import io.netty.microbench.rdma.verbs.Perftest;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Part of a run: a server, and a client that measures it, each in its own process.
 */
enum Part {
    /** Limit of this machine between two processes, in any mode, measured by a C program. */
    LIMIT(Goal.LIMIT) {
        @Override
        void measure(Mode mode, Setup setup, Effort effort, Readings readings)
                throws IOException, InterruptedException {
            for (Measurement measurement : setup.limit().measure("--millis",
                    Integer.toString(effort.windowMillis() * LIMIT_WINDOWS))) {
                readings.add(measurement);
            }
        }
    },
    /** Round trips and streams. */
    ECHO(EchoLoadServer.class, EchoLoad.class),
    /** Many small messages in flight. */
    MESSAGES(EchoLoadServer.class, MessagesLoad.class) {
        @Override
        List<Integer> warmUp(Pair pair) {
            // Other scenarios would open the connections of later rows.
            return List.of(0);
        }

        @Override
        void measure(Pair pair, Effort effort, Readings readings) throws IOException, InterruptedException {
            for (int i = 0; i < pair.subjects().size(); i++) {
                readings.addBatches(pair.sample(i, effort.windowMillis(), effort.limitMillis()), MessagesLoad.BATCH);
            }
        }
    },
    HTTP(HttpServer.class, PlaintextLoad.class),
    GRPC(GrpcServerCommand.class, GrpcLoad.class) {
        @Override
        String unavailabilityCause(Transport transport) {
            return transport == Transport.UNIX ? "the example is for addresses of hosts"
                    : super.unavailabilityCause(transport);
        }
    },
    /** Static files, by HTTP. */
    FILES(FileServer.class, FileLoad.class) {
        @Override
        List<String> serverArguments(Setup setup) throws IOException {
            FileLoad.writeFiles(setup.folder());
            return List.of("--root", setup.folder().toString());
        }
    },
    /** Connections that are open and idle: their costs, and their effect on other connections. */
    IDLE(EchoLoadServer.class, IdleLoad.class) {
        @Override
        List<Integer> warmUp(Pair pair) {
            return List.of(0);
        }

        @Override
        List<String> jvmOptions() {
            // Memory and allocations are measured, so the leak detector is off: it records the stack of one of 128
            // buffers of any transport. The direct memory, by default as large as the heap, may be registered up to a
            // half. 10,000 connections need more.
            return List.of("-XX:+AlwaysPreTouch", "-Dio.netty.leakDetection.level=disabled",
                    "-XX:MaxDirectMemorySize=2g");
        }

        @Override
        void measure(Pair pair, Effort effort, Readings readings) throws IOException, InterruptedException {
            new IdleMeasurements(pair, effort, readings).run();
        }
    },
    /** Set-up of connections, beginning with cold processes. */
    SETUP(EchoLoadServer.class, IdleLoad.class) {
        @Override
        Stream<Mode> modes(Transport transport) {
            return Stream.of(Mode.byDefault(transport));
        }

        @Override
        List<String> jvmOptions() {
            return IDLE.jvmOptions();
        }

        @Override
        void measure(Mode mode, Setup setup, Effort effort, Readings readings)
                throws IOException, InterruptedException {
            try (Pair pair = start(mode, setup)) {
                new SetUpMeasurements(pair, effort, readings).run();
            }
        }
    },
    /** Messages that are due at equal intervals: most services are neither idle nor at their maximum rate. */
    PACED(EchoLoadServer.class, PacedLoad.class) {
        @Override
        Stream<Mode> modes(Transport transport) {
            return sleepingModes(transport);
        }

        @Override
        List<Integer> warmUp(Pair pair) {
            return PacedMeasurements.warmUp(pair);
        }

        @Override
        void measure(Pair pair, Effort effort, Readings readings) throws IOException, InterruptedException {
            new PacedMeasurements(pair, effort, readings).run();
        }
    },
    /** Round trips while other processes want the cores. */
    BUSY(EchoLoadServer.class, EchoLoad.class) {
        @Override
        Stream<Mode> modes(Transport transport) {
            return sleepingModes(transport);
        }

        @Override
        List<Integer> warmUp(Pair pair) {
            return List.of(ROUND_TRIPS);
        }

        @Override
        void measure(Mode mode, Setup setup, Effort effort, Readings readings)
                throws IOException, InterruptedException {
            try (Pair first = start(mode, setup); Pair second = start(mode, setup)) {
                first.warmUp(warmUp(first), effort.warmUpMillis());
                second.warmUp(warmUp(second), effort.warmUpMillis());
                List<Child> busy = BusyProcess.start(Section.BUSY_PROCESSES);
                try {
                    readings.add(Pair.sampleTogether(List.of(first, second), ROUND_TRIPS,
                            effort.windowMillis() * BUSY_WINDOWS), Section.BUSY);
                } finally {
                    for (Child process : busy) {
                        process.close();
                    }
                }
            }
        }
    },
    /** Round trips, a stream and HTTP while other processes take the cores now and then. */
    NOISE(EchoLoadServer.class, EchoLoad.class) {
        @Override
        Stream<Mode> modes(Transport transport) {
            return switch (transport) {
            case RDMA -> Mode.of(transport).stream();
            case EPOLL -> Stream.of(Mode.byDefault(transport));
            default -> Stream.empty();
            };
        }

        @Override
        void measure(Mode mode, Setup setup, Effort effort, Readings readings)
                throws IOException, InterruptedException {
            // The pairs run one after the other: loops that never sleep would take cores from the other pair.
            measureUnderNoise(start(mode, setup), setup, effort, readings);
            measureUnderNoise(HTTP.start(mode, setup), setup, effort, readings);
        }

        private void measureUnderNoise(Pair started, Setup setup, Effort effort, Readings readings)
                throws IOException, InterruptedException {
            try (Pair pair = started) {
                List<Integer> numbers = IntStream.range(0, pair.subjects().size()).filter(i ->
                        Section.UNDER_NOISE.contains(pair.subjects().get(i).name())).boxed().toList();
                pair.warmUp(numbers, effort.warmUpMillis());
                for (int percent : Section.NOISE_PERCENT) {
                    NoiseProgram noise = new NoiseProgram(setup.noiseProgram(), percent);
                    try {
                        for (int i : numbers) {
                            readings.add(Pair.sampleTogether(List.of(pair), i, effort.windowMillis() * NOISE_WINDOWS),
                                    Section.underNoise(pair.subjects().get(i).name(), percent));
                        }
                    } finally {
                        noise.close();
                    }
                }
            }
        }
    },
    /** Several event loops at each end, on a machine with many cores. */
    SCALE(EchoLoadServer.class, ScaleLoad.class) {
        @Override
        List<String> jvmOptions() {
            // Each event loop has registered memory of its own.
            return List.of("-XX:MaxDirectMemorySize=2g");
        }

        @Override
        void measure(Mode mode, Setup setup, Effort effort, Readings readings)
                throws IOException, InterruptedException {
            new ScaleMeasurements(setup.scale(), effort, readings).run(loops -> start(mode, setup,
                    List.of("--threads", Integer.toString(loops))));
        }
    },
    /** Round trips and streams over a wire, of fewer sizes than those of {@link #ECHO}. */
    WIRE(EchoLoadServer.class, WireLoad.class),
    /** As {@link #WIRE}, by unmodified C programs on the same provider. */
    PROGRAMS("C programs") {
        @Override
        void measure(Mode mode, Setup setup, Effort effort, Readings readings)
                throws IOException, InterruptedException {
            new WirePrograms(setup.perftest(), setup.launcher().provider(), setup.launcher().host()).measure(readings);
        }
    };

    /** Parts that are measured over a slow wire. */
    static final Set<Part> OF_A_WIRE = EnumSet.of(WIRE, PROGRAMS);
    /** Parts that are measured on any machine. {@link #SCALE} needs more than two cores. */
    static final Set<Part> OF_A_MACHINE = EnumSet.complementOf(EnumSet.of(SCALE, WIRE, PROGRAMS));
    /** Parts that are measured for transports without a goal, by default. */
    static final Set<Part> OF_OTHERS = EnumSet.of(ECHO, MESSAGES);

    /** Parts that are not measured in each round by default. */
    static final Set<Part> LONG = EnumSet.of(PACED, NOISE, SCALE);

    private static final int LIMIT_WINDOWS = 5;
    /** Number of windows under noise. Each core is taken ten times and more in this time. */
    private static final int NOISE_WINDOWS = 8;
    /** Number of the shortest round trips, which are the first scenario of that client. */
    private static final int ROUND_TRIPS = 0;
    /** Number of windows beside busy processes. The kernel moves a thread every few milliseconds or never. */
    private static final int BUSY_WINDOWS = 50;

    private final String subject;
    private final Class<?> server;
    private final Class<? extends LoadClient> client;

    /** Creates a part without modes. */
    Part(String subject) {
        this.subject = subject;
        server = null;
        client = null;
    }

    Part(Class<?> server, Class<? extends LoadClient> client) {
        subject = null;
        this.server = server;
        this.client = client;
    }

    /** The measured subject, or {@code null} for all modes. */
    String subject() {
        return subject;
    }

    /** Returns why a transport cannot be measured here, or {@code null} if it can. */
    String unavailabilityCause(Transport transport) {
        Throwable cause = transport.unavailabilityCause();
        return cause == null ? null : cause.toString();
    }

    /** Returns the modes in which a transport is measured. */
    Stream<Mode> modes(Transport transport) {
        return Mode.of(transport).stream();
    }

    /** Returns the modes in which idle event loops leave the cores to other threads. */
    private static Stream<Mode> sleepingModes(Transport transport) {
        return switch (transport) {
        case RDMA -> Stream.of(Mode.byDefault(transport), new Mode(transport, Waiting.SLEEPING));
        case EPOLL -> Stream.of(Mode.byDefault(transport));
        default -> Stream.empty();
        };
    }

    /** Arguments of the server besides the transport and the address. */
    List<String> serverArguments(Setup setup) throws IOException {
        return List.of();
    }

    /**
     * Measures everything once.
     *
     * @throws IOException if a process fails or an answer is wrong. Its messages are on the standard error output
     */
    void measure(Mode mode, Setup setup, Effort effort, Readings readings)
            throws IOException, InterruptedException {
        try (Pair pair = start(mode, setup)) {
            pair.warmUp(warmUp(pair), effort.warmUpMillis());
            measure(pair, effort, readings);
        }
    }

    final Pair start(Mode mode, Setup setup) throws IOException {
        return start(mode, setup, List.of());
    }

    /** Starts both processes with arguments for both. */
    final Pair start(Mode mode, Setup setup, List<String> arguments) throws IOException {
        return setup.launcher().pair(mode, server, Stream.of(serverArguments(setup), arguments)
                .flatMap(List::stream).toList(), client, arguments, jvmOptions());
    }

    /** Options of the virtual machines of both processes. */
    List<String> jvmOptions() {
        return List.of();
    }

    /** Returns the scenarios of the warm-up. */
    List<Integer> warmUp(Pair pair) {
        return IntStream.range(0, pair.subjects().size())
                .filter(i -> Section.isShown(pair.subjects().get(i).name())).boxed().toList();
    }

    /** Measures with processes that are warm. */
    void measure(Pair pair, Effort effort, Readings readings) throws IOException, InterruptedException {
        for (int i : warmUp(pair)) {
            readings.add(pair.sample(i, effort.windowMillis(), effort.limitMillis()));
        }
    }

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Common settings of the parts.
     *
     * @param launcher     starts processes
     * @param folder       for files, deleted in the end
     * @param limit        measures the limit of the machine
     * @param noiseProgram takes cores from the measured processes: see {@link NoiseProgram}
     * @param perftest     programs of perftest and rdma-core
     */
    record Setup(Launcher launcher, Path folder, LimitProgram limit, Path noiseProgram, Perftest perftest,
                 ScaleMeasurements.Loops scale) {
    }
}
