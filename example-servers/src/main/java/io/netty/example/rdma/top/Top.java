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
package io.netty.example.rdma.top;

import io.netty.example.rdma.util.Commands;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Shows what the RDMA transport does in a running JVM, again and again, until it is stopped or the JVM ends.
 */
@Command(name = "top", description = "Shows connections, rates, providers and memory of RDMA channels in a running " +
        "JVM of this user. Without PID: which JVMs use the transport.")
public final class Top implements Callable<Integer> {
    /** Clears the screen and what has scrolled off it: console_codes(4). */
    private static final String CLEAR = "\033[H\033[2J\033[3J";

    private static final int END_SECONDS = 10;

    @Parameters(index = "0", arity = "0..1", paramLabel = "PID", description = "Process id of the JVM.")
    private Long pid;

    @Option(names = "--once", description = "Print one interval and exit: the same as --count 1.")
    private boolean once;

    @Option(names = "--count", description = "Print so many intervals below each other, and exit.")
    private Integer count;

    @Option(names = "--interval", defaultValue = "1", description = "Seconds (default: ${DEFAULT-VALUE}).")
    private double interval;

    @Option(names = "--rows", defaultValue = "20",
            description = "The most connections to show, the busiest ones (default: ${DEFAULT-VALUE}).")
    private int rows;

    @Option(names = { "-h", "--help" }, usageHelp = true, description = "Show this help and exit.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    public static void main(String[] args) {
        System.exit(Commands.run(new Top(), args));
    }

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        if (interval < 0.01 || interval > 3600) {
            throw new ParameterException(spec.commandLine(), "--interval: 0.01 to 3600 seconds");
        }
        return pid == null ? list(out) : watch(out);
    }

    private static int list(PrintWriter out) {
        Map<Long, String> found = RunningJvm.all();
        if (found.isEmpty()) {
            out.println("No JVM of this user uses the RDMA transport.");
        }
        found.forEach((id, command) -> out.println(id + " " + command));
        out.flush();
        return found.isEmpty() ? 1 : 0;
    }

    private int watch(PrintWriter out) throws Exception {
        try (RunningJvm jvm = RunningJvm.attach(pid)) {
            try {
                watch(jvm, out);
            } catch (IOException e) {
                if (!endsSoon(pid)) {
                    throw e;
                }
                out.println("Process " + pid + " has ended.");
                out.flush();
            }
        }
        return 0;
    }

    /** Returns whether a process is about to end: it closes its connections before it vanishes. */
    private static boolean endsSoon(long pid) throws Exception {
        Optional<ProcessHandle> process = ProcessHandle.of(pid);
        try {
            if (process.isPresent()) {
                process.get().onExit().get(END_SECONDS, TimeUnit.SECONDS);
            }
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    private void watch(RunningJvm jvm, PrintWriter out) throws Exception {
        int left = once ? 1 : count == null ? Integer.MAX_VALUE : count;
        boolean clear = !once && count == null;
        RunningJvm.Reading before = jvm.read();
        for (; left > 0; left--) {
            TimeUnit.NANOSECONDS.sleep((long) (interval * 1e9));
            RunningJvm.Reading after = jvm.read();
            String text = new Screen(before, after).text(rows);
            out.print((clear ? CLEAR : "") + "RDMA transport of process " + pid + " at " +
                    LocalTime.now().truncatedTo(ChronoUnit.SECONDS) + "\n\n" + text + (clear ? "" : "\n"));
            out.flush();
            before = after;
        }
    }
}
