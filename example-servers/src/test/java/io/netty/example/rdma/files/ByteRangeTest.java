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
package io.netty.example.rdma.files;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class ByteRangeTest {
    @ParameterizedTest
    @CsvSource({"bytes=0-0, 0, 0", "bytes=5-9, 5, 9", "bytes=90-, 90, 99", "bytes=-1, 99, 99", "bytes=-1000, 0, 99",
            "bytes=90-1000, 90, 99", "BYTES=0-, 0, 99", "bytes= 1-2 , 1, 2"})
    void partIsUnderstood(String header, long first, long last) {
        assertThat(ByteRange.parse(header, 100)).isEqualTo(new ByteRange(first, last));
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=100-", "bytes=100-200", "bytes=9-5", "bytes=-0", "bytes=-", "bytes=", "bytes=x-5",
            "bytes=1-2-3", "bytes=99999999999999999999-", "bytes=--5"})
    void whatLiesOutsideOrIsNoRangeCannotBeSatisfied(String header) {
        assertThat(ByteRange.parse(header, 100)).isSameAs(ByteRange.UNSATISFIABLE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lines=1-2", "bytes=0-1,5-6", ""})
    void whatNeedNotBeUnderstoodIsTheWholeFile(String header) {
        assertThat(ByteRange.parse(header, 100)).isNull();
    }

    @Test
    void emptyFileHasNoRange() {
        assertThat(ByteRange.parse("bytes=0-", 0)).isSameAs(ByteRange.UNSATISFIABLE);
        assertThat(ByteRange.parse("bytes=-5", 0)).isSameAs(ByteRange.UNSATISFIABLE);
        assertThat(ByteRange.parse(null, 0)).isNull();
    }
}
