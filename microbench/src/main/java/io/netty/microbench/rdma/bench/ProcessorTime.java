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

import io.netty.microbench.rdma.process.ProcessUse;
import io.netty.microbench.rdma.report.Figure;
import io.netty.microbench.rdma.sample.Pair;

import java.io.IOException;
import java.util.function.BiConsumer;

/**
 * Share of a core that the two processes of a pair use between two moments, without JIT compilers.
 */
final class ProcessorTime {
    private final Pair pair;
    private final long startNanos = System.nanoTime();
    private final long server;
    private final long client;

    /** Begins the measurement. */
    ProcessorTime(Pair pair) throws IOException {
        this.pair = pair;
        server = ProcessUse.cpuNanos(pair.serverPid());
        client = ProcessUse.cpuNanos(pair.clientPid());
    }

    /** Ends the measurement, and records the shares. */
    void end(BiConsumer<Figure, Double> readings) throws IOException {
        double passed = System.nanoTime() - startNanos;
        readings.accept(Figure.SERVER_CPU, (ProcessUse.cpuNanos(pair.serverPid()) - server) / passed);
        readings.accept(Figure.CLIENT_CPU, (ProcessUse.cpuNanos(pair.clientPid()) - client) / passed);
    }
}
