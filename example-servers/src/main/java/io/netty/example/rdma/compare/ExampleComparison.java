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

import io.netty.example.rdma.ExampleServer;
import io.netty.example.rdma.TlsEngine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * An example as a whole: a command that runs its server and its {@link LoadClient}, each a process of its own, on one
 * transport after the other, and shows the figures beside each other. The exit status is 0 if every answer on every
 * transport was right.
 */
public abstract class ExampleComparison implements Callable<Integer> {
    @Mixin
    private ComparisonOptions options;

    @Option(names = "--polling", description = "Compare event loops that never sleep as well.")
    private boolean polling;

    @Option(names = "--tls", description = "Encrypt, with the TLS engine of: ${COMPLETION-CANDIDATES}.")
    private TlsEngine tls;

    private final Class<?> server;
    private final Class<? extends LoadClient> client;

    /**
     * @param server main class of the server. It has {@code ServerOptions}
     * @param client main class of the client
     */
    protected ExampleComparison(Class<?> server, Class<? extends LoadClient> client) {
        this.server = server;
        this.client = client;
    }

    /**
     * What the server is told beside the transport, the address and TLS.
     *
     * @param folder a folder for files, which is deleted in the end
     */
    protected List<String> serverArguments(Path folder) throws IOException {
        return List.of();
    }

    @Override
    public final Integer call() throws Exception {
        List<Mode> modes = new ArrayList<>();
        options.transports().forEach(transport -> modes.addAll(Mode.of(transport, polling)));
        try (TemporaryFolder folder = new TemporaryFolder()) {
            List<String> tlsArguments = tls == null ? List.of() : List.of("--tls", tls.toString(), "--certificate",
                    folder.path().resolve("certificate.pem").toString());
            List<String> serverArguments = new ArrayList<>(serverArguments(folder.path()));
            serverArguments.addAll(tlsArguments);
            Comparison comparison = new Comparison(options);
            Results results = comparison.measure(modes,
                    mode -> sample(comparison, mode, serverArguments, tlsArguments));
            comparison.tell(new Report(results, modes).write());
        }
        return 0;
    }

    private List<String> sample(Comparison comparison, Mode mode, List<String> forServer, List<String> forClient)
            throws IOException, InterruptedException {
        List<String> serverArguments = new ArrayList<>(forServer);
        serverArguments.addAll(List.of("--port", "0", "--until-input-ends"));
        try (Child serverProcess = comparison.start(server, mode, serverArguments)) {
            List<String> clientArguments = new ArrayList<>(forClient);
            clientArguments.addAll(List.of("--plan", options.plan().name(),
                    "--port", ExampleServer.port(serverProcess.await(ExampleServer.READY))));
            try (Child clientProcess = comparison.start(client, mode, clientArguments)) {
                return clientProcess.awaitSuccess();
            }
        }
    }
}
