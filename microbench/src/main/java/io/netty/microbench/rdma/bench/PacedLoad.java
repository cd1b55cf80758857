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

import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.microbench.rdma.load.LoadClient;
import io.netty.microbench.rdma.load.Scenario;
import io.netty.microbench.rdma.process.Control;
import picocli.CommandLine.Command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;

/**
 * The measuring client of the part "paced": messages to an echo server and back, so many a second on so many
 * connections in all, whether the echoes of others have arrived or not.
 */
@Command(name = "paced-load", description = "Measures echoes of messages that are due at equal intervals.")
final class PacedLoad extends LoadClient {
    /** Opens connections until there are so many: those of a scenario have to be open before it starts. */
    static final String OPEN = "open";
    /** Messages of a sixth of a second at the highest rate: more than a pause of a virtual machine holds back. */
    private static final int MAX_UNDER_WAY = 1 << 14;

    private final List<EchoConnection> connections = new ArrayList<>();

    private PacedLoad() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new PacedLoad(), args));
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        try {
            group.next().submit(PacedLoad::endTimerSlack).get();
        } catch (ExecutionException e) {
            System.err.println("The timer that paces may be late by the kernel's timer slack: " + e.getCause());
        }
        open(options, group, 1);
        List<Scenario> scenarios = new ArrayList<>();
        for (int number : Section.PACED_CONNECTIONS) {
            for (int rate : Section.PACED_RATES) {
                scenarios.add(Scenario.paced(Section.paced(rate, number), rate, MAX_UNDER_WAY, inTurn(number)));
            }
        }
        return scenarios;
    }

    /**
     * Has the kernel wake this thread when its timers expire. By default it may do so 50 µs later, so as to wake up for
     * several timers at a time: see PR_SET_TIMERSLACK in prctl(2), and proc(5). That would be more than the latency of
     * most messages.
     */
    private static Void endTimerSlack() throws IOException {
        Path thread = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName();
        Files.writeString(Path.of("/proc").resolve(thread).resolve("timerslack_ns"), "1");
        return null;
    }

    @Override
    protected void addCommands(Control control, ClientOptions options, EventLoopGroup group) {
        control.add(OPEN, arguments -> {
            open(options, group, Integer.parseInt(arguments[0]));
            return "open";
        });
    }

    private void open(ClientOptions options, EventLoopGroup group, int number) throws Exception {
        while (connections.size() < number) {
            EchoConnection connection = new EchoConnection();
            EchoConnections.bootstrap(options, group).handler(connection).connect().sync();
            connections.add(connection);
        }
    }

    /** Sends one message by each of the first connections, and begins again. */
    private Scenario.Operation inTurn(int number) {
        return new Scenario.Operation() {
            private int next;

            @Override
            public void start(Scenario.Completion completion) {
                connections.get(next).start(completion);
                next = (next + 1) % number;
            }
        };
    }
}
