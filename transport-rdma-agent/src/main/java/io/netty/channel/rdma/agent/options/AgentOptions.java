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
package io.netty.channel.rdma.agent.options;

import java.util.ArrayList;
import java.util.List;

/**
 * Options after the agent's jar: {@code =OPTION,OPTION,...}. Read by the agent, and by its classes in the application's
 * loader. Any thread.
 */
public final class AgentOptions {
    private static final String USAGE = ". The options are off, require, verbose, servers=PATTERN,PATTERN,... and " +
            "clients=PATTERN,PATTERN,...";

    private boolean off;
    private boolean require;
    private boolean verbose;
    private final List<AddressPattern> servers = new ArrayList<>();
    private final List<AddressPattern> clients = new ArrayList<>();

    private AgentOptions() { }

    /**
     * @param arguments {@code null} or empty for none.
     * @throws IllegalArgumentException that says what is wrong.
     */
    public static AgentOptions parse(String arguments) {
        AgentOptions options = new AgentOptions();
        List<AddressPattern> patterns = null;
        for (String word : arguments == null || arguments.isBlank() ? new String[0] : arguments.split(",", -1)) {
            int equals = word.indexOf('=');
            String name = equals < 0 ? word : word.substring(0, equals);
            if (equals >= 0) {
                patterns = options.patterns(name, word);
                patterns.add(AddressPattern.parse(word.substring(equals + 1)));
            } else if (!options.set(word)) {
                if (patterns == null) {
                    throw new IllegalArgumentException("unknown option '" + word + '\'' + USAGE);
                }
                patterns.add(AddressPattern.parse(word));
            }
        }
        return options;
    }

    private List<AddressPattern> patterns(String name, String word) {
        return switch (name) {
        case "servers" -> servers;
        case "clients" -> clients;
        default -> throw new IllegalArgumentException("unknown option '" + word + '\'' + USAGE);
        };
    }

    private boolean set(String word) {
        switch (word) {
        case "off":
            off = true;
            return true;
        case "require":
            require = true;
            return true;
        case "verbose":
            verbose = true;
            return true;
        default:
            return false;
        }
    }

    /** Returns whether the agent does nothing. */
    public boolean isOff() {
        return off;
    }

    /** Returns whether a channel that should have RDMA fails if it can't have it. */
    public boolean isRequire() {
        return require;
    }

    /** Returns whether the agent prints a summary when the JVM ends. */
    public boolean isVerbose() {
        return verbose;
    }

    /** The addresses of listeners that may have RDMA, in the order of preference. */
    public List<AddressPattern> servers() {
        return List.copyOf(servers);
    }

    /** The addresses to which clients may connect over RDMA, in the order of preference. */
    public List<AddressPattern> clients() {
        return List.copyOf(clients);
    }
}
