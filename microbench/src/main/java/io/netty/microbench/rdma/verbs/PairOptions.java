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

import io.netty.example.rdma.util.ExampleServer;
import io.netty.example.rdma.util.LocalHost;
import io.netty.example.rdma.verbs.ConnectionOptions;
import io.netty.example.rdma.verbs.DeviceChoice;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsOptions;
import io.netty.microbench.rdma.process.Child;
import io.netty.microbench.rdma.process.TemporaryFolder;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The command line options of a program that runs both ends of another one, and the code that runs them: each end is a
 * process of its own.
 */
public final class PairOptions {
    private static final String PROVIDER = "io.netty.rdma.provider";
    /**
     * Option by which a thread waits for the compilation of its code. On two cores, event loops that never sleep leave
     * the compilers so little time that processes are cold for minutes.
     */
    private static final String WAIT_FOR_COMPILERS = "-XX:-BackgroundCompilation";

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Option(names = "--provider",
            description = "Verbs provider: auto, embedded or ibverbs (default: auto).")
    private String provider = System.getProperty(PROVIDER, "auto");

    @Option(names = "--host",
            description = "Address of this host (default: 127.0.0.1, or that of an RDMA device if there is one).")
    private String host;

    @Mixin
    private DeviceChoice device = new DeviceChoice();

    @Option(names = "--polling", description = "Event loops poll and never sleep: lowest latency, a core each.")
    private boolean polling;

    @Option(names = "--timeout", defaultValue = "60",
            description = "Seconds that each process may take (default: ${DEFAULT-VALUE}).")
    private int timeoutSeconds = 60;

    /** Ways in which the ends find each other. */
    public enum Way {
        CONNECTION_MANAGER("by connection manager"),
        DESCRIPTORS("by descriptors");

        private final String text;

        Way(String text) {
            this.text = text;
        }

        /** Returns a text for users. */
        @Override
        public String toString() {
            return text;
        }
    }

    /**
     * A process to be started.
     *
     * @param main      main class, which has {@link VerbsOptions} and {@link ConnectionOptions}
     * @param arguments arguments besides those of the connection
     */
    public record End(Class<?> main, List<String> arguments) {
    }

    /**
     * Runs one end that accepts, and those that connect to it, until all have succeeded, and prints their results.
     *
     * @throws IOException if a process fails, or is not done within 5 minutes. Its messages are on the standard error
     *         output
     */
    public void run(Way way, End acceptor, List<End> connectors) throws IOException, InterruptedException {
        printResults(lines(way, acceptor, connectors), ", " + way);
    }

    /** Runs the ends as the method above, and returns the lines that they have printed. */
    public List<String> lines(Way way, End acceptor, List<End> connectors) throws IOException, InterruptedException {
        return start(way, acceptor, connectors, PairOptions::awaitSuccess);
    }

    /** Use of started processes, until they have ended normally. */
    interface Use<T> {
        T of(List<Child> processes) throws IOException, InterruptedException;
    }

    /** Starts both ends, and returns the result of their use. */
    <T> T start(Way way, End acceptor, List<End> connectors, Use<T> use) throws IOException, InterruptedException {
        List<Child> children = new ArrayList<>();
        try (TemporaryFolder folder = new TemporaryFolder()) {
            try {
                List<String> where = new ArrayList<>(where());
                if (way == Way.DESCRIPTORS) {
                    where.addAll(List.of("--descriptors", folder.path().toString()));
                    children.add(start(acceptor, where, List.of()));
                } else {
                    children.add(start(acceptor, where, List.of("--port", "0")));
                    where.addAll(
                            List.of("--port", ExampleServer.port(children.get(0).await(ExampleServer.READY))));
                }
                for (End connector : connectors) {
                    children.add(start(connector, where, List.of()));
                }
                return use.of(children);
            } finally {
                close(children);
            }
        }
    }

    /**
     * Runs ends that find each other by themselves, else as {@link #run(Way, End, List)}. They get the address of the
     * host, and no port.
     */
    public void run(List<End> ends) throws IOException, InterruptedException {
        List<Child> children = new ArrayList<>();
        try {
            for (End end : ends) {
                children.add(start(end, where(), List.of()));
            }
            printResults(awaitSuccess(children), "");
        } finally {
            close(children);
        }
    }

    /** The provider, as in the system property {@code io.netty.rdma.provider}. */
    public String provider() {
        return provider;
    }

    /** Address of both ends. */
    public String host() throws IOException {
        return host == null ? LocalHost.address() : host;
    }

    /** Returns whether {@code --polling} was given. */
    public boolean isPolling() {
        return polling;
    }

    private List<String> where() throws IOException {
        List<String> where = new ArrayList<>(device.arguments());
        where.addAll(List.of("--host", host(), "--timeout", Integer.toString(timeoutSeconds)));
        return where;
    }

    /** Returns the lines that the processes have printed, when all have succeeded. */
    static List<String> awaitSuccess(List<Child> children) throws IOException, InterruptedException {
        List<String> lines = new ArrayList<>();
        for (Child child : children) {
            lines.addAll(child.awaitSuccess());
        }
        return lines;
    }

    private static void printResults(List<String> lines, String remark) {
        lines.stream().filter(line -> line.startsWith(Result.PREFIX))
                .forEach(line -> System.out.println(line + remark));
    }

    private static void close(List<Child> children) throws IOException {
        for (Child child : children) {
            child.close();
        }
    }

    private Child start(End end, List<String> where, List<String> more) throws IOException {
        List<String> all = new ArrayList<>(end.arguments());
        all.addAll(where);
        all.addAll(more);
        if (polling) {
            all.add("--polling");
        }
        return new Child(List.of("-D" + PROVIDER + '=' + provider, WAIT_FOR_COMPILERS), end.main(), all);
    }
}
