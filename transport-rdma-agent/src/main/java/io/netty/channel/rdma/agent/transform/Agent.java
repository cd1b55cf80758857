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
package io.netty.channel.rdma.agent.transform;

import io.netty.channel.rdma.agent.options.AgentOptions;

import java.lang.instrument.Instrumentation;
import java.net.URL;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The start of the agent, and its lines on the standard error stream, for times and places without Netty's logger.
 */
public final class Agent {
    /** Keys of objects that are shared with {@code io.netty.channel.rdma.agent.hooks.Shared}. */
    private static final String ARGUMENTS = "arguments";
    private static final String CASTS = "casts";
    private static final String SWAPPED = "swapped";
    private static final String SELECTORS = "selectors";

    private Agent() { }

    /**
     * Starts the agent. Called by {@code Premain} by reflection.
     *
     * @param arguments       see {@link AgentOptions}.
     * @param instrumentation of this JVM.
     * @param jar             of the agent.
     * @param shared objects that the agent shares with its classes in the application's loaders.
     * @throws IllegalArgumentException if the arguments are wrong.
     */
    public static void start(String arguments, Instrumentation instrumentation, URL jar, Map<String, Object> shared) {
        AgentOptions options = AgentOptions.parse(arguments);
        if (options.isOff()) {
            return;
        }
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (loaded.getClassLoader() != null && loaded.getName().equals("io.netty.bootstrap.AbstractBootstrap")) {
                refused(options, "Netty was loaded before, by another agent perhaps: name this one first");
                return;
            }
        }
        Map<String, String> casts = new ConcurrentHashMap<>();
        Set<String> swapped = ConcurrentHashMap.newKeySet();
        shared.put(ARGUMENTS, arguments == null ? "" : arguments);
        shared.put(CASTS, casts);
        shared.put(SWAPPED, swapped);
        Attachments attachments = new Attachments(instrumentation, jar);
        shared.put(SELECTORS, (Consumer<Module>) attachments::openSelectors);
        instrumentation.addTransformer(new NettyTransformer(options, attachments, new HardCasts(casts, swapped)));
    }

    /** Leaves the program without RDMA, or ends it if RDMA is required. */
    static void refused(AgentOptions options, String reason) {
        if (options.isRequire()) {
            line(reason + ". The process ends, as RDMA is required");
            Runtime.getRuntime().halt(1);
        }
        line(reason + ". The program goes on without RDMA");
    }

    static void line(String text) {
        System.err.println("netty-transport-rdma-agent: " + text);
    }
}
