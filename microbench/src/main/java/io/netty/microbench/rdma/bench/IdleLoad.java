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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.microbench.rdma.load.LoadClient;
import io.netty.microbench.rdma.load.Scenario;
import io.netty.microbench.rdma.process.Control;
import picocli.CommandLine.Command;

import java.util.ArrayList;
import java.util.List;

/**
 * The measuring client of the parts "idle" and "setup": round trips on one connection, connections for one round trip
 * each, and as many other ones as it is told to open, on which nothing ever moves.
 */
@Command(name = "idle-load",
        description = "Measures round trips to an echo server and short connections, and opens idle connections.")
final class IdleLoad extends LoadClient {
    /** Opens so many more; answered with the nanoseconds that it took. */
    static final String OPEN = "open";
    /** Closes all of them. */
    static final String CLOSE = "close";

    private IdleLoad() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new IdleLoad(), args));
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        Bootstrap bootstrap = EchoConnections.bootstrap(options, group);
        List<Scenario> scenarios = new ArrayList<>();
        scenarios.add(new Scenario("round trips of 64 B", 1, 0, new EchoBatches(bootstrap, 1)));
        for (int atATime : Section.AT_A_TIME) {
            scenarios.add(new Scenario(Section.shortConnections(atATime), atATime, 0,
                    new ShortConnections(bootstrap)));
        }
        return scenarios;
    }

    @Override
    protected void addCommands(Control control, ClientOptions options, EventLoopGroup group) throws Exception {
        IdleConnections idle = new IdleConnections(EchoConnections.bootstrap(options, group), group.next());
        control.add(OPEN, arguments -> Long.toString(idle.open(Integer.parseInt(arguments[0]))))
                .add(CLOSE, arguments -> {
                    idle.close();
                    return "closed";
                });
    }
}
