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
package io.netty.channel.rdma.memory;

import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.SystemPropertyUtil;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts registered memory against a bound: registered memory is locked, so the system can't take it back.
 *
 * <p>What is needed, such as the first receive buffer of a connection, may use all of it. What only makes things
 * faster, such as larger receive buffers, leaves a part of it alone: otherwise a few busy connections could keep all
 * others from being made. Thread-safe.
 */
public final class PinnedMemory {
    /** Slabs of the default allocator, staging memory, receive buffers, and registered memory of other buffers. */
    public static final PinnedMemory PROCESS = new PinnedMemory(SystemPropertyUtil.getLong(
            "io.netty.rdma.maxPinnedMemory", PlatformDependent.maxDirectMemory() / 2), 8, null);

    private final long max;
    private final long maxOptional;
    private final PinnedMemory parent;
    private final AtomicLong used = new AtomicLong();

    /**
     * @param max    in bytes.
     * @param keep   one part in so many is for what is needed; 0 for none.
     * @param parent in which the bytes count too, or {@code null}.
     */
    public PinnedMemory(long max, int keep, PinnedMemory parent) {
        this.max = max;
        this.parent = parent;
        maxOptional = keep == 0 ? max : max - max / keep;
    }

    /**
     * Counts memory that is about to be registered.
     *
     * @return false, and nothing is counted, if that would be too much.
     */
    public boolean reserve(long bytes, boolean needed) {
        if (parent != null && !parent.reserve(bytes, needed)) {
            return false;
        }
        if (used.addAndGet(bytes) > (needed ? max : maxOptional)) {
            release(bytes);
            return false;
        }
        return true;
    }

    public void release(long bytes) {
        used.addAndGet(-bytes);
        if (parent != null) {
            parent.release(bytes);
        }
    }

    /** How much could be registered for what only makes things faster. */
    long available() {
        long own = maxOptional - used.get();
        return parent == null ? own : Math.min(own, parent.available());
    }

    /**
     * Creates the exception for a failed reservation.
     *
     * @param what is missing.
     * @param or what else helps.
     */
    public IOException exhausted(String what, String or) {
        return new IOException(what + ": raise -Dio.netty.rdma.maxPinnedMemory (" + used() + " of at most " + max() +
                " bytes are in use), or " + or);
    }

    public long used() {
        return used.get();
    }

    public long max() {
        return max;
    }
}
