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

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class WindowsTest {
    private static final long SECOND = 1_000_000_000;
    private static final int OPERATIONS = 100;

    /** Each window takes a second longer than the one before. */
    private static Windows slower(int operations) {
        Windows windows = new Windows(OPERATIONS);
        long now = System.nanoTime();
        windows.done(0, now);
        for (int done = 1; done <= operations; done++) {
            now += SECOND / 20 * (1 + (done - 1) / 20);
            windows.done(done, now);
        }
        return windows;
    }

    @Test
    void windowsHaveTheirRates() {
        Windows windows = slower(OPERATIONS);
        for (int i = 0; i < Windows.COUNT; i++) {
            assertThat(windows.rate(i)).isEqualTo(20.0 / (i + 1));
            assertThat(windows.nanos(i + 1) - windows.nanos(i)).isEqualTo((i + 1) * SECOND);
        }
    }

    @Test
    void operationsThatAreDoneManyAtATimeAreInTheWindowThatTheyEnd() {
        Windows windows = new Windows(OPERATIONS);
        long now = System.nanoTime();
        for (int done = 0; done <= OPERATIONS + 5; done += 7) {
            windows.done(done, now + done * SECOND);
        }
        for (int i = 0; i < Windows.COUNT; i++) {
            assertThat(windows.rate(i)).isEqualTo(1);
        }
    }

    @Test
    void lineTellsAll() {
        Windows windows = slower(OPERATIONS);
        Windows parsed = Windows.parse(windows.toString());
        assertThat(parsed).hasToString(windows.toString());
        assertThat(parsed.rate(1)).isEqualTo(windows.rate(1));
        assertThat(parsed.warmUpSeconds()).isEqualTo(windows.warmUpSeconds());
        assertThat(Windows.parse("measured something else")).isNull();
    }

    @Test
    void windowsThatDidNotEndAreRefused() {
        assertThatThrownBy(() -> Windows.parse(slower(OPERATIONS - 1).toString()))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("not the windows");
        assertThatThrownBy(() -> Windows.parse("windows 1 2")).isInstanceOf(IllegalArgumentException.class);
    }
}
