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

import io.netty.example.rdma.http.HttpServer;
import io.netty.example.rdma.proxy.ProxyServer;
import io.netty.example.rdma.proxy.ProxyTransport;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ExampleServer;
import io.netty.example.rdma.util.Transport;
import io.netty.microbench.rdma.load.HttpLoad;
import io.netty.microbench.rdma.process.Child;
import io.netty.microbench.rdma.sample.Mode;
import io.netty.microbench.rdma.sample.Pair;
import picocli.CommandLine.Command;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The proxy example as a whole. The mode is that of the proxy's connections to the server.
 */
@Command(name = "proxy", description = "Runs an HTTP/1.1 server, a proxy before it and a client over TCP that checks "
        + "every answer; compares a proxy that reaches the server by RDMA with one that does by TCP. Server CPU is "
        + "that of the proxy and the server together. Event loops are those of the default: there are three processes.")
public final class ProxyComparison extends ExampleComparison {
    public ProxyComparison() {
        super(HttpServer.class, HttpLoad.class);
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new ProxyComparison(), args));
    }

    private static ProxyTransport proxyTransport(Transport transport) {
        return switch (transport) {
            case RDMA -> ProxyTransport.RDMA;
            case EPOLL -> ProxyTransport.TCP;
            default -> throw new IllegalArgumentException("--transports: the proxy reaches a server by rdma or epoll, "
                    + "not by " + transport);
        };
    }

    @Override
    protected List<Mode> modes(Transport transport) {
        proxyTransport(transport);
        // There are three event loops. If they never slept, the result would show how the kernel shares fewer cores
        // among them.
        return List.of(Mode.byDefault(transport));
    }

    @Override
    protected Pair start(Mode mode, List<String> forServer, List<String> forClient) throws IOException {
        return Pair.start(children -> {
            List<String> server = new ArrayList<>(List.of("--port", "0", "--idle-seconds", "0"));
            if (mode.transport() == Transport.RDMA) {
                server.add("--rdma-only");
            }
            server.addAll(forServer);
            children.add(launcher().server(HttpServer.class, mode, server));
            String host = launcher().host();
            children.add(launcher().server(ProxyServer.class, List.of("--listen", "tcp:" + host + ":0",
                    "--to", host + ':' + port(children.get(0)),
                    "--transport", proxyTransport(mode.transport()).toString(), "--idle-seconds", "0", "--quiet")));
            List<String> client = new ArrayList<>(List.of("--port", port(children.get(1))));
            client.addAll(forClient);
            children.add(launcher().start(HttpLoad.class, Mode.byDefault(Transport.EPOLL), client));
        });
    }

    private static String port(Child listening) throws IOException {
        return ExampleServer.port(listening.await(ExampleServer.READY));
    }
}
