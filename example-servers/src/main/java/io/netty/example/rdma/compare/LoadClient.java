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

import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.ClientOptions;
import io.netty.example.rdma.Commands;
import io.netty.util.concurrent.EventExecutor;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * The client's process of a comparison: a command that does one scenario after the other against a server that runs
 * already, and prints a {@link Measurement} for each. The exit status is 0 if every answer was right.
 */
public abstract class LoadClient implements Callable<Integer> {
    @Mixin
    private ClientOptions options;

    @Option(names = "--plan", defaultValue = "FULL", description = "${COMPLETION-CANDIDATES} (default: FULL).")
    private Plan plan;

    /**
     * Connects, and says what there is to measure.
     *
     * @param options where the server is, and with which transport it is reached
     * @param group   the event loop group of all connections. It has one event loop
     */
    protected abstract List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception;

    @Override
    public final Integer call() throws Exception {
        EventLoopGroup group = options.newGroup();
        try {
            EventExecutor executor = group.next();
            boolean first = true;
            for (Scenario scenario : scenarios(options, group)) {
                System.out.println(Load.run(executor, scenario, plan, first).get());
                first = false;
            }
            return 0;
        } finally {
            Commands.shutdown(group);
        }
    }
}
