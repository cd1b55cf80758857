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

import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.example.rdma.Commands;
import io.netty.example.rdma.Transport;
import io.netty.example.rdma.echo.EchoClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

/**
 * The echo example as a whole: a file through an echo server and back, then figures of all modes beside each other.
 * The exit status is 0 if the file came back intact on every transport and everything could be measured.
 */
@Command(name = "echo", description = {
        "Sends a file through an echo server, compares SHA-256, then measures round trips and streaming of the "
                + "transports in turn. Server and client are processes of their own."})
public final class Comparison implements Callable<Integer> {
    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Option(names = "--quick", description = "One short round.")
    private boolean quick;

    @Option(names = "--rounds", description = "Rounds to take medians of (default: 5, or 1 with --quick).")
    private Integer rounds;

    @Option(names = "--file", description = "The file to send (default: lib/modules of the running JDK, over 100 MB).")
    private Path file = Path.of(System.getProperty("java.home"), "lib", "modules");

    @Option(names = "--transports", split = ",", defaultValue = "rdma,epoll",
            description = "Transports to compare: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private List<Transport> transports;

    @Option(names = "--provider", defaultValue = "embedded",
            description = "Verbs provider of rdma: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private VerbsProvider provider;

    @Option(names = "--host", defaultValue = "127.0.0.1",
            description = "Address of this host, with ibverbs that of an RDMA device (default: ${DEFAULT-VALUE}).")
    private String host;

    @Option(names = "--markdown", description = "Write the tables to this file too.")
    private Path markdown;

    public static void main(String[] args) {
        System.exit(Commands.run(new Comparison(), args));
    }

    @Override
    public Integer call() throws Exception {
        for (Transport transport : transports) {
            sendFile(new Mode(transport, false));
        }
        Plan plan = quick ? Plan.QUICK : Plan.FULL;
        List<Mode> modes = new ArrayList<>();
        for (Transport transport : transports) {
            if (transport != Transport.NIO) {
                modes.add(new Mode(transport, true));
            }
            modes.add(new Mode(transport, false));
        }
        warnIfBusy();
        int count = rounds != null ? rounds : plan.rounds();
        Results results = measure(modes, plan, count);
        String report = count + (count == 1 ? " round" : " rounds") + (quick ? ", short ones" : "") + ", on "
                + Machine.describe() + providers() + ".\n\n" + new Report(results, modes).write();
        System.out.println();
        System.out.print(report);
        if (markdown != null) {
            Files.writeString(markdown, report);
        }
        return 0;
    }

    private String providers() {
        return transports.contains(Transport.RDMA)
                ? ", " + lowerCase(provider) + " verbs provider" : "";
    }

    private static String lowerCase(VerbsProvider provider) {
        return provider.name().toLowerCase(Locale.ROOT);
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

    private void sendFile(Mode mode) throws IOException, InterruptedException {
        try (Child server = startServer(mode)) {
            List<String> arguments = options(mode);
            arguments.addAll(List.of("--port", ports(server)[0], "--file", file.toString()));
            try (Child client = start(EchoClient.class, arguments)) {
                client.awaitSuccess().forEach(System.out::println);
            }
            server.endInput();
            String counters = server.await(MeasuredServer.COUNTERS);
            if (!counters.isEmpty()) {
                System.out.println(MeasuredServer.COUNTERS + counters);
            }
        }
    }

    private Results measure(List<Mode> modes, Plan plan, int rounds) throws IOException, InterruptedException {
        Results results = new Results();
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < modes.size(); i++) {
                Mode mode = modes.get((round + i) % modes.size());
                System.out.printf("round %d of %d: %s%n", round + 1, rounds, mode);
                for (String line : measure(mode, plan)) {
                    Measurement measurement = Measurement.parse(line);
                    if (measurement != null) {
                        results.add(mode, measurement);
                    }
                }
            }
        }
        return results;
    }

    private List<String> measure(Mode mode, Plan plan) throws IOException, InterruptedException {
        try (Child server = startServer(mode)) {
            String[] ports = ports(server);
            List<String> arguments = options(mode);
            arguments.addAll(List.of("--echo-port", ports[0], "--stream-port", ports[1], "--plan", plan.name()));
            try (Child client = start(MeasuringClient.class, arguments)) {
                return client.awaitSuccess();
            }
        }
    }

    private Child startServer(Mode mode) throws IOException {
        return start(MeasuredServer.class, options(mode));
    }

    private Child start(Class<?> main, List<String> arguments) throws IOException {
        return new Child("io.netty.rdma.provider=" + lowerCase(provider), main, arguments);
    }

    private static String[] ports(Child server) throws IOException {
        return server.await(MeasuredServer.READY).split(" ");
    }

    private List<String> options(Mode mode) {
        List<String> options = new ArrayList<>(
                List.of("--transport", mode.transport().toString(), "--host", host));
        if (mode.polling()) {
            options.add("--polling");
        }
        return options;
    }
}
