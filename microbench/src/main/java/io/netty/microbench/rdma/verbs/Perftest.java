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
package io.netty.microbench.rdma.verbs;

import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.example.rdma.util.Figures;
import io.netty.example.rdma.util.Measurement;
import picocli.CommandLine.Option;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The unmodified programs of perftest, and rstream of rdma-core: their paths, and their results. On the embedded
 * provider they run with its build for {@code LD_PRELOAD}.
 */
public final class Perftest {
    private static final int MAX_SECONDS = 120;
    private static final int CONNECT_ATTEMPTS = 100;
    private static final int RETRY_MILLIS = 50;
    /**
     * Index among the columns of ib_*_lat: size, iterations, minimum, maximum, typical, average, deviation, 99%, 99.9%.
     */
    private static final int TYPICAL = 4;
    private static final int P99 = 7;
    private static final int P999 = 8;
    private static final int LATENCY_COLUMNS = 9;
    /** Index among the columns of ib_*_bw: size, iterations, peak, average, millions of messages a second. */
    private static final int AVERAGE = 3;
    private static final int MESSAGE_RATE = 4;
    private static final int BANDWIDTH_COLUMNS = 5;
    private static final int MIN_BYTES_SIZE = 1024;
    /** Number of bytes of a MB in the programs' output. */
    private static final int MEGABYTE = 1 << 20;
    /**
     * Index among the columns of rstream: name, size, transfers, iterations, total, time, Gb/s, microseconds a
     * transfer.
     */
    private static final int GIGABITS = 6;
    private static final int TRANSFER_MICROS = 7;
    private static final int RSTREAM_COLUMNS = 8;
    private static final String RSTREAM = "rstream";

    @Option(names = "--preload", paramLabel = "FILE", description = "librdma_embedded.so, which perftest's programs "
            + "are run with where our side uses the embedded provider.")
    private File preload;

    @Option(names = "--perftest-options", split = " ", paramLabel = "OPTIONS",
            description = "For perftest's programs, at both ends; for example \"-d mlx5_0 -R\".")
    private List<String> options = List.of();

    /**
     * Returns why a comparison with the programs is not possible; {@code null} if it is.
     *
     * @param provider our provider, as {@code --provider} has it
     */
    public String unavailability(String provider) {
        if (isEmbedded(provider) && (preload == null || !preload.exists())) {
            return "no librdma_embedded.so for perftest's programs: see --preload";
        }
        try {
            Process process = new ProcessBuilder("ib_write_lat", "--version").redirectErrorStream(true).start();
            process.getInputStream().readAllBytes();
            return null;
        } catch (IOException e) {
            return "perftest is not installed (apt-get install perftest)";
        }
    }

    private static boolean isEmbedded(String provider) {
        return provider.equals("embedded") ||
                provider.equals("auto") && VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED;
    }

    /**
     * Runs both ends of a program of perftest.
     *
     * @param program {@code ib_..._lat} or {@code ib_..._bw}
     * @return its results. Latencies are those of round trips: the programs print half of them, except for reads
     */
    public Measurement run(String provider, String host, String program, int size, int iterations)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program, "-p", Integer.toString(freePort(host)),
                "-s", Integer.toString(size), "-n", Integer.toString(iterations)));
        command.addAll(options);
        return parse(program, size, run(provider, command, with(command, host)));
    }

    /**
     * Runs both ends of {@code rstream}, which has the same protocol as our streams. One end sends some messages, then
     * the other end sends as many. Both poll.
     *
     * @param transfers number of messages in one direction at a time; 1 means round trips
     * @return its results: bytes a second, and for round trips their mean as {@code p50}, because it prints no median
     */
    public Measurement runRstream(String provider, String host, int size, int transfers, int iterations)
            throws IOException, InterruptedException {
        List<String> command = List.of(RSTREAM, "-p", Integer.toString(freePort(host)), "-S", Integer.toString(size),
                "-C", Integer.toString(transfers), "-I", Integer.toString(iterations));
        return parseRstream(size, transfers, iterations,
                run(provider, with(command, "-b", host), with(command, "-s", host)));
    }

    private static List<String> with(List<String> command, String... more) {
        List<String> all = new ArrayList<>(command);
        all.addAll(List.of(more));
        return all;
    }

    private List<String> run(String provider, List<String> serverCommand, List<String> clientCommand)
            throws IOException, InterruptedException {
        Process server = start(provider, serverCommand);
        CompletableFuture<List<String>> serverOutput = output(server);
        try {
            return runClient(provider, clientCommand, server, serverOutput);
        } finally {
            server.destroyForcibly().waitFor();
        }
    }

    /** Runs the client until it connects: nothing else tells that the server listens. */
    private List<String> runClient(String provider, List<String> command, Process server,
                                   CompletableFuture<List<String>> serverOutput)
            throws IOException, InterruptedException {
        List<String> lines = List.of();
        for (int i = 0; i < CONNECT_ATTEMPTS && server.isAlive(); i++) {
            Process client = start(provider, command);
            CompletableFuture<List<String>> output = output(client);
            try {
                if (!client.waitFor(MAX_SECONDS, TimeUnit.SECONDS)) {
                    throw new IOException(String.join(" ", command) + ": not done within " + MAX_SECONDS + " s");
                }
            } finally {
                // Destroying a process that has ended would close its output.
                if (client.isAlive()) {
                    client.destroyForcibly().waitFor();
                }
            }
            lines = output.join();
            if (client.exitValue() == 0) {
                return lines;
            }
            Thread.sleep(RETRY_MILLIS);
        }
        throw new IOException(String.join(" ", command) + " failed: " + String.join("\n", lines)
                + (server.isAlive() ? "" : "\nIts server: " + String.join("\n", serverOutput.join())));
    }

    private Process start(String provider, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        if (isEmbedded(provider)) {
            builder.environment().put("LD_PRELOAD", preload.getAbsolutePath());
        }
        return builder.start();
    }

    private static CompletableFuture<List<String>> output(Process process) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return Arrays.asList(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                        .split("\n"));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static int freePort(String host) throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(host))) {
            return socket.getLocalPort();
        }
    }

    static Measurement parse(String program, int size, List<String> lines) throws IOException {
        String name = program + ' ' + Figures.size(size);
        for (String line : lines) {
            String[] columns = line.trim().split("\\s+");
            if (!columns[0].equals(Integer.toString(size))) {
                continue;
            }
            if (program.endsWith("_lat") && columns.length >= LATENCY_COLUMNS) {
                double factor = program.contains("read") ? 1e3 : 2e3;
                return new Measurement(name, Long.parseLong(columns[1]), 0, Measurement.Unit.OPERATIONS,
                        nanos(columns[TYPICAL], factor), nanos(columns[P99], factor), nanos(columns[P999], factor));
            }
            if (program.endsWith("_bw") && columns.length >= BANDWIDTH_COLUMNS) {
                boolean bytes = size >= MIN_BYTES_SIZE;
                // The printed rate of long messages has too few digits.
                double perSecond = bytes ? Double.parseDouble(columns[AVERAGE]) * MEGABYTE
                        : Double.parseDouble(columns[MESSAGE_RATE]) * 1e6;
                return new Measurement(name, Long.parseLong(columns[1]), Math.round(perSecond),
                        bytes ? Measurement.Unit.BYTES : Measurement.Unit.OPERATIONS, 0, 0, 0);
            }
        }
        throw new IOException(program + " has printed no figures: " + String.join("\n", lines));
    }

    static Measurement parseRstream(int size, int transfers, int iterations, List<String> lines) throws IOException {
        for (String line : lines) {
            String[] columns = line.trim().split("\\s+");
            if (columns[0].equals("custom") && columns.length >= RSTREAM_COLUMNS) {
                return new Measurement(RSTREAM + ' ' + Figures.size(size), (long) transfers * iterations,
                        Math.round(Double.parseDouble(columns[GIGABITS]) * 1e9 / Byte.SIZE), Measurement.Unit.BYTES,
                        transfers == 1 ? nanos(columns[TRANSFER_MICROS], 2e3) : 0, 0, 0);
            }
        }
        throw new IOException(RSTREAM + " has printed no figures: " + String.join("\n", lines));
    }

    private static long nanos(String micros, double factor) {
        return Math.round(Double.parseDouble(micros) * factor);
    }
}
