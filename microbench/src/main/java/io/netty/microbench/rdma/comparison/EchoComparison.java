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
package io.netty.microbench.rdma.comparison;

import io.netty.example.rdma.echo.EchoClient;
import io.netty.example.rdma.echo.EchoServer;
import io.netty.example.rdma.util.Commands;
import io.netty.microbench.rdma.load.EchoLoad;
import io.netty.microbench.rdma.load.EchoLoadServer;
import io.netty.microbench.rdma.process.Child;
import io.netty.microbench.rdma.sample.Mode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The echo example as a whole: sends a file through an echo server and back, then compares figures of all modes. The
 * exit status is 0 if the file came back intact on every transport, and everything could be measured.
 */
@Command(name = "echo", description = {
        "Sends a file through an echo server, compares SHA-256, then measures round trips and streaming of the "
                + "transports in turn. Server and client are processes of their own."})
public final class EchoComparison extends ExampleComparison {
    @Option(names = "--file", description = "The file to send (default: lib/modules of the running JDK, over 100 MB).")
    private Path file = Path.of(System.getProperty("java.home"), "lib", "modules");

    @Option(names = "--limit-program", description = "The program shm_limit, to be measured beside the transports: "
            + "what the machine can do between two processes.")
    private Path limitProgram;

    public EchoComparison() {
        super(EchoLoadServer.class, EchoLoad.class);
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new EchoComparison(), args));
    }

    @Override
    protected void prepare(Mode mode) throws IOException, InterruptedException {
        try (Child server = launcher().start(EchoServer.class, mode, List.of("--port", "0"))) {
            // The line has an IP address or the name of a Unix socket. Both end with the port.
            String address = server.await(EchoServer.READY).split(" ", 2)[0];
            try (Child client = launcher().start(EchoClient.class, mode, List.of("--file", file.toString(),
                    "--port", address.substring(Math.max(address.lastIndexOf(':'), address.lastIndexOf('.')) + 1)))) {
                client.awaitSuccess().forEach(System.out::println);
            }
        }
    }

    @Override
    protected List<Comparison.Reference> references() {
        if (limitProgram != null && !Files.isExecutable(limitProgram)) {
            System.out.println("Without the limit: there is no " + limitProgram);
            return List.of();
        }
        return limitProgram == null ? List.of() : List.of(LimitProgram.reference(limitProgram));
    }
}
