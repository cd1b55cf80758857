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
package io.netty.channel.rdma.loop;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("quick")
class ThreadUsageTest {
    @Test
    void threadThatOthersPushAsideHasInvoluntarySwitches() throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        Thread[] others = IntStream.range(0, 4 * Runtime.getRuntime().availableProcessors())
                .mapToObj(i -> new Thread(() -> {
                    while (!done.get()) {
                        Thread.onSpinWait();
                    }
                })).toArray(Thread[]::new);
        Stream.of(others).forEach(Thread::start);
        try {
            long before = ThreadUsage.involuntarySwitches();
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (ThreadUsage.involuntarySwitches() == before && System.nanoTime() - deadline < 0) {
                Thread.onSpinWait();
            }
            assertThat(ThreadUsage.involuntarySwitches()).isGreaterThan(before);
        } finally {
            done.set(true);
            for (Thread other : others) {
                other.join();
            }
        }
    }
}
