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
package io.netty.microbench.rdma.sample;

import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.example.rdma.util.ExampleServer;
import io.netty.example.rdma.util.Transport.Waiting;
import io.netty.microbench.rdma.load.LoadClient;
import io.netty.microbench.rdma.process.Child;
import io.netty.microbench.rdma.process.MeasuredServer;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Starts the measured processes with the options that tell them the mode and the address. Has the command line options
 * for the provider and the address.
 */
public final class Launcher {
    @Option(names = "--provider", defaultValue = "embedded",
            description = "Verbs provider of rdma: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private VerbsProvider provider;

    @Option(names = "--host", defaultValue = "127.0.0.1",
            description = "Address of this host, with ibverbs that of an RDMA device (default: ${DEFAULT-VALUE}).")
    private String host;

    /** The verbs provider, as in the system property {@code io.netty.rdma.provider}. */
    public String provider() {
        return provider.name().toLowerCase(Locale.ROOT);
    }

    /** The address of this host. */
    public String host() {
        return host;
    }

    /** Starts a process in a mode. */
    public Child start(Class<?> main, Mode mode, List<String> arguments) throws IOException {
        return launch(main, inMode(mode, arguments), List.of());
    }

    /** Starts a measured server in a mode. */
    public Child server(Class<?> main, Mode mode, List<String> arguments) throws IOException {
        return server(main, inMode(mode, arguments));
    }

    /** Starts a measured server whose arguments are all given. */
    public Child server(Class<?> main, List<String> arguments) throws IOException {
        return server(main, arguments, List.of());
    }

    private Child server(Class<?> main, List<String> arguments, List<String> jvmOptions) throws IOException {
        List<String> all = new ArrayList<>(List.of(main.getName()));
        all.addAll(arguments);
        return launch(MeasuredServer.class, all, jvmOptions);
    }

    private List<String> inMode(Mode mode, List<String> arguments) {
        List<String> all = new ArrayList<>(List.of("--transport", mode.transport().toString(), "--host", host));
        if (mode.waiting() != Waiting.DEFAULT) {
            all.add("--" + mode.waiting().name().toLowerCase(Locale.ROOT));
        }
        all.addAll(arguments);
        return all;
    }

    private Child launch(Class<?> main, List<String> arguments, List<String> jvmOptions) throws IOException {
        List<String> options = new ArrayList<>(jvmOptions);
        options.add("-Dio.netty.rdma.provider=" + provider());
        return new Child(options, main, arguments);
    }

    /**
     * Starts a server, and then, when it listens, a client.
     *
     * @param server          main class, which has {@code ServerOptions}
     * @param serverArguments besides those that every measured server needs
     * @param clientArguments besides the server's port
     * @param jvmOptions      of both, besides the common ones
     */
    public Pair pair(Mode mode, Class<?> server, List<String> serverArguments, Class<? extends LoadClient> client,
                     List<String> clientArguments, List<String> jvmOptions) throws IOException {
        // Connections that are idle while others are measured must stay open.
        List<String> forServer = new ArrayList<>(List.of("--port", "0", "--idle-seconds", "0"));
        forServer.addAll(serverArguments);
        return Pair.start(children -> {
            children.add(server(server, inMode(mode, forServer), jvmOptions));
            List<String> forClient = new ArrayList<>(List.of("--port",
                    ExampleServer.port(children.get(0).await(ExampleServer.READY))));
            forClient.addAll(clientArguments);
            children.add(launch(client, inMode(mode, forClient), jvmOptions));
        });
    }
}
