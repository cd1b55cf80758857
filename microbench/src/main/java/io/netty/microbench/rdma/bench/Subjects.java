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

/**
 * Names of the measured subjects. A transport has its own name if it waits as it does by default, and
 * {@code "rdma polling"} if its event loops never sleep.
 */
final class Subjects {
    /** A C program with nothing but shared memory: {@code transport-rdma-native/src/bench/c}. */
    static final String LIMIT = "limit";
    /** Subject that all others are compared with, besides {@link #LIMIT}. */
    static final String BASE = "epoll";

    private Subjects() {
    }
}
