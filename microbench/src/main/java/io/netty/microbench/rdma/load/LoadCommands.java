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
package io.netty.microbench.rdma.load;

import io.netty.microbench.rdma.process.Control;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Commands of a client's process, and the lines with which it lists its scenarios.
 */
public final class LoadCommands {
    /** Beginning of a scenario's line; its bytes and its name follow. */
    public static final String SCENARIO = "scenario ";
    /** The line after the last scenario. */
    public static final String READY = "ready";
    /** Starts the load of a scenario, by its number. */
    public static final String START = "start";
    /** Measures for this number of milliseconds; the answer is a {@link Window}. */
    public static final String WINDOW = "window";
    /** Ends the load. */
    public static final String STOP = "stop";

    private final EventExecutorGroup group;
    private final List<Scenario> scenarios;
    /** Loads, one for each event loop. */
    private final List<Load> loads = new ArrayList<>();

    private LoadCommands(EventExecutorGroup group, List<Scenario> scenarios) {
        this.group = group;
        this.scenarios = scenarios;
    }

    /**
     * Prints the scenarios, and returns a control that runs them on command. Not to be called on an event loop.
     *
     * @param group event loops of this process. Each has its share of the load
     */
    public static Control control(EventExecutorGroup group, List<Scenario> scenarios)
            throws IOException, InterruptedException {
        scenarios.forEach(scenario -> System.out.println(SCENARIO + scenario.bytes() + ' ' + scenario.name()));
        System.out.println(READY);
        LoadCommands commands = new LoadCommands(group, scenarios);
        return new Control(group).add(START, commands::start).add(WINDOW, commands::window)
                .add(STOP, arguments -> commands.stop());
    }

    private String start(String[] arguments) {
        Scenario scenario = scenarios.get(Integer.parseInt(arguments[0]));
        List<EventExecutor> loops = new ArrayList<>();
        group.forEach(loops::add);
        loads.clear();
        for (int i = 0; i < loops.size(); i++) {
            loads.add(Load.start(loops.get(i), scenario.share(i, loops.size())));
        }
        return "started";
    }

    private String window(String[] arguments) throws Exception {
        long nanos = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[0]));
        List<Window> windows = new ArrayList<>();
        for (Future<Window> window : loads.stream().map(load -> load.window(nanos)).toList()) {
            windows.add(window.get());
        }
        return Window.together(windows).toString();
    }

    private String stop() throws Exception {
        for (Future<Void> stopped : loads.stream().map(Load::stop).toList()) {
            stopped.get();
        }
        return "stopped";
    }
}
