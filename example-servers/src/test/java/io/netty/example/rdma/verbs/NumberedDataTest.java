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
package io.netty.example.rdma.verbs;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.HashSet;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class NumberedDataTest {
    private static final int DIFFERENT = 61;

    @ParameterizedTest
    @ValueSource(ints = {8, 64, 65_536, 1_000_000})
    void messagesInARowDifferEvenInTheirEnds(int size) throws Exception {
        try (NumberedData data = new NumberedData(size)) {
            Set<Long> ends = new HashSet<>();
            for (long number = 1; number <= DIFFERENT; number++) {
                assertThat(data.message(number).readableBytes()).isEqualTo(size);
                assertThat(NumberedData.matches(data.message(number), number)).isTrue();
                assertThat(NumberedData.matches(data.message(number), number + 1)).isFalse();
                ends.add(data.end(number));
            }
            assertThat(ends).hasSize(DIFFERENT);
            assertThat(data.end(DIFFERENT + 1)).isEqualTo(data.end(1));
        }
    }
}
