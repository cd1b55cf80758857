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
package io.netty.channel.rdma.monitor;

import io.netty.channel.rdma.TestTimeouts;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("quick")
class LoopCountersTest {
    private final LoopCounters.All all = new LoopCounters.All(2);

    @Test
    void sumIsOfThoseThatAreOpenAndThoseThatWere() {
        LoopCounters first = new LoopCounters(all);
        LoopCounters second = new LoopCounters(all);
        first.open();
        second.open();
        first.add(0, 3);
        second.add(0, 4);
        second.add(1, 5);
        first.close();
        first.close();

        assertThat(all.sum().get(0)).isEqualTo(7);
        assertThat(all.sum().get(1)).isEqualTo(5);
    }

    @Test
    void stopwatchAddsTimesUp() {
        LoopCounters counters = new LoopCounters(all);
        counters.open();
        long now = System.nanoTime();
        counters.start(now);
        counters.start(now + 1);
        assertThat(counters.isTiming()).isTrue();
        assertThat(all.timing()).isEqualTo(1);
        counters.stop(now + 1_000);
        counters.stop(now + 5_000);
        assertThat(counters.nanos()).isEqualTo(1_000);
        counters.start(now + 10_000);
        counters.stop(now + 10_500);

        assertThat(counters.isTiming()).isFalse();
        assertThat(counters.nanos()).isEqualTo(1_500);
        assertThat(all.sum().nanos()).isEqualTo(1_500);
        counters.close();
        assertThat(all.sum().nanos()).isEqualTo(1_500);
        assertThat(all.timing()).isZero();
    }

    @Test
    void timeThatLastsCounts() {
        LoopCounters counters = new LoopCounters(all);
        counters.open();
        counters.start(System.nanoTime() - 1_000_000);

        assertThat(counters.nanos()).isGreaterThanOrEqualTo(1_000_000);
        assertThat(all.sum().nanos()).isGreaterThanOrEqualTo(1_000_000);
    }

    /** A monitoring system takes a counter that goes back for a restart of the process. */
    @Test
    void readerNeverSeesStopwatchGoBack() throws Exception {
        LoopCounters counters = new LoopCounters(all);
        counters.open();
        AtomicBoolean end = new AtomicBoolean();
        AtomicInteger looks = new AtomicInteger();
        CompletableFuture<List<Long>> steps = CompletableFuture.supplyAsync(() -> {
            List<Long> back = new ArrayList<>();
            long last = 0;
            while (!end.get()) {
                long next = counters.nanos();
                if (next < last) {
                    back.add(next - last);
                }
                last = next;
                looks.incrementAndGet();
            }
            return back;
        });
        TestTimeouts.awaitTrue(() -> looks.get() > 0 || steps.isDone());
        int before = looks.get();
        // The reader may not have had a core for a while.
        for (int i = 0; i < 200_000 || looks.get() < before + 1000 && !steps.isDone(); i++) {
            counters.start(System.nanoTime());
            counters.stop(System.nanoTime());
        }
        end.set(true);

        assertThat(TestTimeouts.result(steps)).isEmpty();
    }
}
