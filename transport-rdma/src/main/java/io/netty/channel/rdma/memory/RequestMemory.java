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
 * Registered memory that work requests use in place. Each work request has a reference until it is done, so that the
 * memory is not allocated again before. The buffer by which it was found may grow, or be released by a composite
 * buffer, in between. Any thread.
 */
public interface RequestMemory extends ReferenceCounted {
    /** Returns the range that the memory is part of, or {@code null} if it is not registered. */
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

    /** Takes a reference, unless the last one was released. Returns whether it took one. */
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
