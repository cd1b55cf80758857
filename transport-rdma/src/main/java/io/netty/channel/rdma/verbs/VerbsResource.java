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
package io.netty.channel.rdma.verbs;

import io.netty.util.internal.UnstableApi;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The kinds of native objects, each with the number of existing objects in this process. A leak shows as a number that
 * does not return to its old value.
 */
@UnstableApi
public enum VerbsResource {
    DEVICE("device"),
    PROTECTION_DOMAIN("protection domain"),
    MEMORY_REGION("memory region"),
    MEMORY_WINDOW("memory window"),
    COMPLETION_CHANNEL("completion channel"),
    COMPLETION_QUEUE("completion queue"),
    QUEUE_PAIR("queue pair"),
    SHARED_RECEIVE_QUEUE("shared receive queue"),
    ADDRESS_HANDLE("address handle"),
    EVENT_CHANNEL("event channel"),
    CONNECTION_ID("connection id");

    private final String label;
    private final AtomicInteger live = new AtomicInteger();

    VerbsResource(String label) {
        this.label = label;
    }

    /** Number of objects that exist now. Any thread. */
    public int live() {
        return live.get();
    }

    void created() {
        live.incrementAndGet();
    }

    void destroyed() {
        live.decrementAndGet();
    }

    @Override
    public String toString() {
        return label;
    }
}
