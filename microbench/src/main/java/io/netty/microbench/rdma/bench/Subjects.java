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
package io.netty.microbench.rdma.bench;

import java.awt.Color;
import java.util.Map;

/**
 * What is measured beside each other. A transport has its own name if it waits as it does by default, and
 * {@code "rdma polling"} if its event loops never sleep.
 */
final class Subjects {
    /** A C program with nothing but shared memory: {@code transport-rdma-native/src/bench/c}. */
    static final String LIMIT = "limit";
    /** What all others are compared with, beside {@link #LIMIT}. */
    static final String BASE = "epoll";

    /** Alike ones have like colours, in each plot the same. */
    private static final Map<String, Color> COLOURS = Map.ofEntries(
            entry("rdma", 0x1f77b4), entry("rdma polling", 0x6baed6), entry("rdma sleeping", 0x08306b),
            entry("epoll", 0xd95f02), entry("epoll polling", 0xfdae6b),
            entry("unix", 0x238b45), entry("unix polling", 0x74c476),
            entry("io_uring", 0x756bb1), entry("nio", 0x969696), entry(LIMIT, 0x252525),
            entry(WirePrograms.LATENCY.get(0), 0x252525), entry(WirePrograms.LATENCY.get(1), 0x636363),
            entry(WirePrograms.BANDWIDTH.get(0), 0x252525), entry(WirePrograms.BANDWIDTH.get(1), 0x636363),
            entry(WirePrograms.RSTREAM, 0x756bb1));

    private Subjects() {
    }

    private static Map.Entry<String, Color> entry(String subject, int rgb) {
        return Map.entry(subject, new Color(rgb));
    }

    static Color colour(String subject) {
        return COLOURS.getOrDefault(subject, Color.PINK);
    }
}
