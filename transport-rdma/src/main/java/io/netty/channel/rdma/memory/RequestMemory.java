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

import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCounted;

/**
 * Memory that is registered for use in place, as work requests see it. Each has a reference until it is done, so that
 * nobody else gets the memory until then, whatever becomes of the buffer by which it was found: that may grow, or be
 * released by the composite buffer it was part of. Any thread.
 */
public interface RequestMemory extends ReferenceCounted {
    /** The range that the memory is part of, or {@code null} if it is not registered. */
    MemoryRange range();

    boolean contains(long address, int length);

    @Override
    default ReferenceCounted retain(int increment) {
        for (int i = 0; i < increment; i++) {
            retain();
        }
        return this;
    }

    @Override
    default boolean release(int decrement) {
        boolean last = false;
        for (int i = 0; i < decrement; i++) {
            last = release();
        }
        return last;
    }

    @Override
    default ReferenceCounted touch() {
        return this;
    }

    @Override
    default ReferenceCounted touch(Object hint) {
        return this;
    }

    /** Takes a reference, unless the last one has been given back. */
    default boolean tryRetain() {
        return tryRetain(this);
    }

    /** Retains memory of another type unless it was released. Returns whether it was retained. */
    static boolean tryRetain(ReferenceCounted memory) {
        try {
            memory.retain();
            return true;
        } catch (IllegalReferenceCountException e) {
            return false;
        }
    }
}
