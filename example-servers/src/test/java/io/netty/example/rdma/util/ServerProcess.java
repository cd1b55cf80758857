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
package io.netty.example.rdma.util;

import io.netty.channel.rdma.verbs.ChildJvm;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * A server of the examples in a process of its own, to be stopped or killed.
 */
public final class ServerProcess implements AutoCloseable {
    private static final int STATUS_OF_SIGTERM = 128 + 15;

    private final ChildJvm process;
    private final InetSocketAddress address;

    /**
     * @param main has {@link ServerOptions}
     */
    public ServerProcess(Class<?> main, Transport transport, String host, String... arguments) throws IOException {
        List<String> all =
                new ArrayList<>(List.of("--transport", transport.toString(), "--host", host, "--port", "0"));
        all.addAll(List.of(arguments));
        process = new ChildJvm(main, List.of(), all.toArray(new String[0]));
        String line = process.line(ExampleServer.READY.trim());
        address = new InetSocketAddress(host, Integer.parseInt(ExampleServer.port(line)));
    }

    public InetSocketAddress address() {
        return address;
    }

    /** SIGKILL: it can't say goodbye. */
    public void kill() {
        process.kill();
    }

    /** SIGTERM, as service managers send it. */
    public void terminate() {
        process.terminate();
    }

    /** Waits until it has ended because of {@link #terminate()}. */
    public void awaitTermination() throws Exception {
        process.output(STATUS_OF_SIGTERM);
    }

    @Override
    public void close() {
        process.close();
    }
}
