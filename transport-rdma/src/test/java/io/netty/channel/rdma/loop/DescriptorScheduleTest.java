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

import static io.netty.channel.rdma.loop.DescriptorSchedule.MAX_NANOS;
import static io.netty.channel.rdma.loop.DescriptorSchedule.MIN_NANOS;
import static org.assertj.core.api.Assertions.assertThat;

@Tag("quick")
class DescriptorScheduleTest {
    /** Times wrap. */
    private long now = Long.MAX_VALUE - 2 * MIN_NANOS;
    private final DescriptorSchedule schedule = new DescriptorSchedule(now);

    @Test
    void looksAreTheRarerTheLongerThereIsNothing() {
        assertThat(schedule.isDue(now)).isTrue();
        for (long interval = 2 * MIN_NANOS; interval <= MAX_NANOS; interval *= 2) {
            schedule.looked(now, false);
            assertNextAfter(interval);
        }
        schedule.looked(now, false);
        assertNextAfter(MAX_NANOS);
    }

    @Test
    void whatIsFoundMakesTheNextLookComeSoon() {
        for (int i = 0; i < 10; i++) {
            schedule.looked(now, false);
        }
        schedule.looked(now, true);
        assertNextAfter(MIN_NANOS);
        schedule.looked(now, true);
        assertNextAfter(MIN_NANOS);
    }

    @Test
    void workThatFollowedFromALookDoesNotCount() {
        schedule.looked(now, true);
        now += 10 * MIN_NANOS;
        schedule.lookedUntil(now);
        assertNextAfter(MIN_NANOS);
    }

    private void assertNextAfter(long nanos) {
        assertThat(schedule.isDue(now + nanos - 1)).isFalse();
        now += nanos;
        assertThat(schedule.isDue(now)).isTrue();
    }
}
