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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("platforms")
@Tag("quick")
class StreamConfigTest {

    @ParameterizedTest
    @CsvSource({
            "0, 16, 4, 2, 1, credits: 0 (expected: 1 to 65534)",
            "65535, 16, 4, 2, 1, credits: 65535",
            "16, 4, 4, 2, 1, sendQueueDepth: 4 (expected: 5 to 65535)",
            "16, 65536, 4, 2, 1, sendQueueDepth: 65536",
            "16, 16, 1, 2, 1, controlSlots: 1",
            "16, 16, 4, 1, 1, targetSglEntries: 1",
            "16, 16, 4, 2, 0, signalInterval: 0",
            "16, 16, 4, 2, 17, signalInterval: 17 (expected: 1 to 16)",
    })
    void sizesAreChecked(int credits, int depth, int control, int entries, int interval, String message) {
        assertThatThrownBy(() -> new StreamConfig(credits, depth, control, entries, interval))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource({"1, 3, 2, 2, 1", "65534, 65535, 64, 1024, 65535"})
    void limitsAreAllowed(int credits, int depth, int control, int entries, int interval) {
        StreamConfig config = new StreamConfig(credits, depth, control, entries, interval);
        assertThat(config.receiveQueueDepth()).isEqualTo(credits + control);
    }
}
