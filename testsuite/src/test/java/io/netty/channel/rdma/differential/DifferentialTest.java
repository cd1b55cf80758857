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
package io.netty.channel.rdma.differential;

import io.netty.channel.rdma.TestRandom;
import io.netty.channel.rdma.TestScope;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.PrimitiveIterator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random programs of what handlers do, run on epoll's TCP and on RDMA: what is promised is the same, and what can be
 * seen is the same but for what {@link Difference} names.
 */
@Tag("differential")
class DifferentialTest {
    private static final int FIXED_SEEDS = TestScope.ALL ? 200 : 100;
    /** Seeds of programs that have found something. */
    private static final long[] FOUND = {
        180788098961L, 529842190055L, 58825626723L, 618274384530L, 725987941810L, 868143322730L, 880262637976L,
        953723921050L, 1792783664L,
    };
    private static final int MAX_FAILURES = 5;
    private static final int REPORT_EVERY = 100;

    @Test
    void rdmaDoesWhatEpollDoes() throws InterruptedException {
        List<String> failures = new ArrayList<>();
        Comparison comparison = new Comparison();
        int programs = 0;
        try {
            PrimitiveIterator.OfLong seeds = TestRandom.seeds(FIXED_SEEDS, FOUND).iterator();
            while (seeds.hasNext() && failures.size() < MAX_FAILURES) {
                long seed = seeds.nextLong();
                System.out.println("seed " + seed);
                String failure = comparison.failure(Generator.program(seed));
                if (failure != null) {
                    System.out.println(failure);
                    failures.add(failure.lines().findFirst().orElse(""));
                }
                if (++programs % REPORT_EVERY == 0) {
                    System.out.println(programs + " programs, " + failures.size() + " failed; " + comparison);
                }
            }
            System.out.println(programs + " programs, " + failures.size() + " failed; " + comparison);
        } finally {
            comparison.close();
        }
        if (!failures.isEmpty()) {
            throw new AssertionError(String.join("\n", failures));
        }
        // Not of a seed that is replayed.
        if (programs >= FIXED_SEEDS) {
            assertThat(comparison.racing()).as("excused programs of %d", programs).isLessThan(programs / 2);
            assertThat(comparison.receivedBytes()).isPositive();
        }
    }
}
