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

/**
 * The accesses against which the atomic operations of a device are atomic ({@code enum ibv_atomic_cap}). Operations
 * that come through several queue pairs of one device never interfere with each other.
 */
public enum AtomicCapability {
    /** The device has no atomic operations. */
    NONE,
    /** Other atomic operations through the same device. A processor must not change the memory at the same time. */
    DEVICE,
    /**
     * Other atomic operations through the same device, and through other devices, and the atomic instructions of the
     * host's processors.
     */
    GLOBAL;

    static AtomicCapability of(long value) {
        // An unknown value counts as the least that every device with atomics has.
        return value == 0 ? NONE : value == 2 ? GLOBAL : DEVICE;
    }
}
