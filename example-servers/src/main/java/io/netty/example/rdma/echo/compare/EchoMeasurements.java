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
package io.netty.example.rdma.echo.compare;

import io.netty.example.rdma.compare.Figures;

import java.util.List;

/**
 * What is measured of the echo.
 */
final class EchoMeasurements {
    static final List<Integer> MESSAGE_BYTES = List.of(64, 4 << 10, 64 << 10, 1 << 20);
    static final List<Integer> WRITE_BYTES = List.of(64 << 10, 1 << 20);

    private EchoMeasurements() {
    }

    static String roundTrips(int messageBytes) {
        return "round trips of " + Figures.size(messageBytes);
    }

    static String stream(int writeBytes) {
        return "a stream of writes of " + Figures.size(writeBytes);
    }
}
