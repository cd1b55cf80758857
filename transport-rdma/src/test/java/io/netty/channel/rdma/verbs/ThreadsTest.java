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
package io.netty.channel.rdma.verbs;

import io.netty.channel.rdma.TestTimeouts;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Promises of the package about threads.
 */
@Tag("quick")
@ExtendWith(LiveObjectsExtension.class)
class ThreadsTest {
    private static final int THREADS = 4;
    private static final int ROUNDS = 500;

    private static void inThreads(int threads, Callable<Void> work) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Void>> results = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                results.add(executor.submit(work));
            }
            for (Future<Void> result : results) {
                result.get(100L * TestTimeouts.MULTIPLIER, TimeUnit.SECONDS);
            }
        } finally {
            executor.shutdownNow();
            assertThat(executor.awaitTermination(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void objectsOfOneDeviceAreMadeAndClosedByManyThreads() throws Exception {
        try (Device device = Device.open(Device.names().get(0));
             ProtectionDomain shared = device.allocateProtectionDomain()) {
            inThreads(THREADS, () -> {
                for (int i = 0; i < ROUNDS; i++) {
                    try (ProtectionDomain own = device.allocateProtectionDomain();
                         MemoryRegion region = shared.register(NativeMemory.allocate(4096), AccessFlags.LOCAL_WRITE);
                         CompletionChannel channel = device.createCompletionChannel();
                         CompletionQueue queue = device.createCompletionQueue(4, channel);
                         QueuePair queuePair = own.createQueuePair(new QueuePairInitAttributes(queue, queue))) {
                        assertThat(region.lkey()).isNotZero();
                        assertThat(queuePair.number()).isNotZero();
                    }
                }
                return null;
            });
        }
    }

    @Test
    void aDomainIsClosedBetweenTheRegionsOfAnotherThreadAndNotDuringOne() throws Exception {
        ByteBuffer buffer = NativeMemory.allocate(64);
        AtomicInteger regions = new AtomicInteger();
        try (Device device = Device.open(Device.names().get(0))) {
            for (int i = 0; i < ROUNDS; i++) {
                ProtectionDomain domain = device.allocateProtectionDomain();
                AtomicBoolean registering = new AtomicBoolean(true);
                inThreads(2, () -> {
                    if (registering.compareAndSet(true, false)) {
                        registerUntilClosed(domain, buffer, regions);
                    } else {
                        closeBetween(domain);
                    }
                    return null;
                });
                assertThat(domain.isOpen()).isFalse();
            }
        }
        assertThat(regions).hasPositiveValue();
    }

    private static void registerUntilClosed(ProtectionDomain domain, ByteBuffer buffer, AtomicInteger regions)
            throws VerbsException {
        // Bounded, because nothing makes it fair: the other thread may never find the moment without a region.
        for (int i = 0; i < 20; i++) {
            try (MemoryRegion region = domain.register(buffer, AccessFlags.LOCAL_WRITE)) {
                assertThat(domain.isOpen()).as("domain of " + region).isTrue();
                regions.incrementAndGet();
            } catch (IllegalStateException closed) {
                return;
            }
        }
    }

    private static void closeBetween(ProtectionDomain domain) throws Exception {
        TestSupport.await("no region", () -> {
            try {
                domain.close();
                return true;
            } catch (IllegalStateException inUse) {
                return null;
            }
        });
    }

    @Test
    void connectionsOfManyThreadsDoNotMeet() throws Exception {
        inThreads(THREADS, () -> {
            for (int i = 0; i < 20; i++) {
                try (ConnectedPair pair = new ConnectedPair()) {
                    for (int message = 0; message < 20; message++) {
                        pair.server.receive(message, 1024, 1024);
                        pair.client.fill(i + message, 1024);
                        pair.client.send(message, 0, 1024);
                        TestSupport.completion(pair.server.queue, WorkCompletionStatus.SUCCESS);
                        TestSupport.completion(pair.client.queue, WorkCompletionStatus.SUCCESS);
                        assertThat(pair.server.holds(i + message, 1024, 1024)).isTrue();
                    }
                }
            }
            return null;
        });
    }
}
