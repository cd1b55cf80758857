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

import io.netty.example.rdma.util.Measurement;
import io.netty.example.rdma.util.Windows;
import io.netty.microbench.rdma.process.Child;
import io.netty.microbench.rdma.process.ProcessUse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Records the CPU time of the JIT compilers of processes at intervals, and tells afterwards if the processes were warm.
 * For programs that measure by themselves, and not on demand like those of a {@link Pair}.
 */
public final class CompilerWatch implements AutoCloseable {
    /** Interval of looks; a measurement takes half a second and more. */
    private static final int LOOK_MILLIS = 20;
    /** Number of looks while a virtual machine starts its threads. Later they stay: see {@link Child}. */
    private static final int STARTING_LOOKS = 50;

    /** CPU time of the compilers of each process, at one time. */
    private record Look(long nanos, long[] compilerNanos) {
    }

    private final List<Child> processes;
    private final List<List<Path>> compilers;
    private final List<Look> looks = new ArrayList<>();
    private final Thread thread;

    /** Begins to look. To be closed before the samples are taken. */
    public CompilerWatch(List<Child> processes) {
        this.processes = processes;
        compilers = new ArrayList<>(Collections.nCopies(processes.size(), List.of()));
        thread = new Thread(() -> {
            try {
                while (!Thread.currentThread().isInterrupted()) {
                    looks.add(look());
                    Thread.sleep(LOOK_MILLIS);
                }
            } catch (InterruptedException e) {
                // The connection is closed.
            } catch (IOException | UncheckedIOException e) {
                // A process has ended, and the measurement before it.
            }
        }, "compiler watch");
        thread.setDaemon(true);
        thread.start();
    }

    private Look look() throws IOException {
        long[] compilerNanos = new long[processes.size()];
        for (int i = 0; i < compilerNanos.length; i++) {
            if (looks.size() < STARTING_LOOKS) {
                compilers.set(i, ProcessUse.compilers(processes.get(i).pid()));
            }
            compilerNanos[i] = ProcessUse.nanos(compilers.get(i));
        }
        return new Look(System.nanoTime(), compilerNanos);
    }

    /** Returns a sample of these windows, and whether it shows the steady state of warm processes. */
    public Sample sample(Measurement measurement, Windows windows) {
        Settling settling = new Settling();
        settling.warmedUp(windows.warmUpSeconds());
        double compiling = compiling(windows.nanos(0), windows.nanos(Windows.COUNT));
        List<Measurement> parts = new ArrayList<>();
        for (int i = 0; i < Windows.COUNT; i++) {
            settling.add((windows.nanos(i + 1) - windows.nanos(i)) / 1e9, windows.rate(i), compiling);
            // Latencies of the parts are not known.
            parts.add(new Measurement(measurement.scenario(), measurement.count() / Windows.COUNT,
                    Math.round(measurement.perSecond() * windows.rate(i) / windows.rate()), measurement.unit(),
                    measurement.p50(), measurement.p99(), measurement.p999()));
        }
        return new Sample(measurement, settling.seen(Double.NaN), parts);
    }

    /** Share of the time in which compilers ran, in the process that compiled more; NaN if there was no look. */
    private double compiling(long fromNanos, long toNanos) {
        Look from = null;
        Look to = null;
        for (Look look : looks) {
            from = look.nanos() <= fromNanos ? look : from;
            // The look after the end is not used: by then the processes are about to end, by code that has never run.
            to = look.nanos() <= toNanos ? look : to;
        }
        if (from == null || to == from) {
            return Double.NaN;
        }
        double most = 0;
        for (int i = 0; i < from.compilerNanos().length; i++) {
            most = Math.max(most, to.compilerNanos()[i] - from.compilerNanos()[i]);
        }
        return most / (to.nanos() - from.nanos());
    }

    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
