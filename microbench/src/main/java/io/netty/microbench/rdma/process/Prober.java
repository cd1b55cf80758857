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
package io.netty.microbench.rdma.process;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.EventExecutorGroup;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Finds out what this process has used. Linux only, as the transport is.
 */
final class Prober {
    private static final long PID = ProcessHandle.current().pid();

    private final OperatingSystemMXBean system =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final long[] eventLoopThreads;
    private final List<Path> compilerThreads;

    /** Not to be called on an event loop. */
    Prober(EventExecutorGroup group) throws IOException, InterruptedException {
        List<Long> ids = new ArrayList<>();
        for (EventExecutor executor : group) {
            ids.add(executor.submit(() -> Thread.currentThread().getId()).sync().getNow());
        }
        eventLoopThreads = ids.stream().mapToLong(Long::longValue).toArray();
        compilerThreads = ProcessUse.compilers(PID);
    }

    Probe probe() throws IOException {
        long allocated = 0;
        for (long bytes : threads.getThreadAllocatedBytes(eventLoopThreads)) {
            allocated += bytes;
        }
        long gcMillis = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(collector -> Math.max(0, collector.getCollectionTime())).sum();
        return new Probe(System.nanoTime(), system.getProcessCpuTime(), compilerNanos(),
                ProcessUse.waitNanos(compilerThreads), TimeUnit.MILLISECONDS.toNanos(gcMillis), allocated,
                ProcessUse.residentBytes(PID));
    }

    /** Collects garbage: see {@link Control#MEMORY}. */
    long heldBytes() throws IOException {
        System.gc();
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        return ProcessUse.residentBytes(PID) - heap.getCommitted() + heap.getUsed();
    }

    /**
     * CPU time of the compilers. {@code CompilationMXBean} counts a compilation when it is done, which with two threads
     * that poll on two cores is half a second after it has begun to be in their way. It is for virtual machines whose
     * compilers have other names.
     */
    private long compilerNanos() {
        if (compilerThreads.isEmpty()) {
            return TimeUnit.MILLISECONDS.toNanos(ManagementFactory.getCompilationMXBean().getTotalCompilationTime());
        }
        return ProcessUse.nanos(compilerThreads);
    }
}
