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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("quick")
class RetryTest {
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final List<Long> delays = new ArrayList<>();
    private boolean inVain = true;
    private final Retry retry = new Retry((task, millis) -> {
        tasks.add(task);
        delays.add(millis);
    }, this::attempt);

    private void attempt() {
        if (inVain) {
            retry.later();
        } else {
            retry.done();
        }
    }

    private void attempts(int count) {
        for (int i = 0; i < count; i++) {
            tasks.remove().run();
        }
    }

    @Test
    void isRarerEachTimeUpToABound() {
        retry.later();
        attempts(6);
        assertThat(delays).containsExactly(1L, 2L, 4L, 8L, 16L, 16L, 16L);
    }

    @Test
    void beginsAnewWhenItWasDone() {
        retry.later();
        attempts(3);
        inVain = false;
        attempts(1);
        assertThat(tasks).isEmpty();
        delays.clear();
        retry.later();
        assertThat(delays).containsExactly(1L);
    }

    @Test
    void isPlannedOnceAtATime() {
        retry.later();
        retry.later();
        assertThat(tasks).hasSize(1);
    }
}
