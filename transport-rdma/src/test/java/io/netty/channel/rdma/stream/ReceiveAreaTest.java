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
package io.netty.channel.rdma.stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("platforms")
@Tag("quick")
class ReceiveAreaTest {

    @Test
    void theLongestUnusedSegmentGoesFirst() {
        ReceiveArea area = new ReceiveArea(0x1000, 5, 3, 16);
        assertThat(area.advertise()).isEqualTo(0);
        assertThat(area.advertise()).isEqualTo(1);
        area.fill(0);
        area.fill(1);
        area.release(1);
        area.release(0);
        assertThat(area.advertise()).isEqualTo(2);
        assertThat(area.advertise()).isEqualTo(1);
        assertThat(area.advertise()).isEqualTo(0);
        assertThat(area.freeSegments()).isZero();
    }

    @Test
    void isIdleOnlyWhenEverySegmentCameBack() {
        ReceiveArea area = new ReceiveArea(0x1000, 5, 2, 16);
        assertThat(area.isIdle()).isTrue();
        int segment = area.advertise();
        assertThat(area.isIdle()).isFalse();
        area.fill(segment);
        assertThat(area.isIdle()).isFalse();
        area.release(segment);
        assertThat(area.isIdle()).isTrue();
    }

    @Test
    void aSegmentIsReleasedOnceAndOnlyWhenFilled() {
        ReceiveArea area = new ReceiveArea(0x1000, 5, 2, 16);
        assertThatThrownBy(() -> area.release(0)).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("free");
        int segment = area.advertise();
        assertThatThrownBy(() -> area.release(segment)).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("advertised");
        area.fill(segment);
        area.release(segment);
        assertThatThrownBy(() -> area.release(segment)).isInstanceOf(IllegalStateException.class);
        assertThat(area.freeSegments()).isEqualTo(2);
    }

    @Test
    void addressesGoBeyondTwoGigabytes() {
        ReceiveArea area = new ReceiveArea(0x1000, 5, 9, 1 << 28);
        assertThat(area.segmentAddress(8)).isEqualTo(0x1000 + (1L << 31));
    }

    @Test
    void sizesAreChecked() {
        assertThatThrownBy(() -> new ReceiveArea(0, 0, 0, 1)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("segments: 0");
        assertThatThrownBy(() -> new ReceiveArea(0, 0, 1, 0)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("segmentLength: 0");
        assertThatThrownBy(() -> new ReceiveArea(0, 0, 1, 1 << 29)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("segmentLength: 536870912");
    }
}
