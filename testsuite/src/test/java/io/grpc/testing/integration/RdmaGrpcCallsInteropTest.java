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
package io.grpc.testing.integration;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * In plaintext: a call of each kind, small and large, one that is cancelled, and one that takes too long. A class of
 * its own for lanes that run a part of the tests.
 */
@Tag("rxe-quick")
class RdmaGrpcCallsInteropTest extends RdmaGrpcInterop {
    static final Set<String> CALLS = Set.of("emptyUnary", "largeUnary", "clientStreaming", "serverStreaming",
            "pingPong", "veryLargeRequest", "veryLargeResponse", "cancelAfterFirstResponse", "deadlineExceeded");

    @TestFactory
    Stream<DynamicTest> calls() {
        List<DynamicTest> tests = testsOf(Plain.class, CALLS::contains).toList();
        assertThat(tests).hasSameSizeAs(CALLS);
        return tests.stream();
    }
}
