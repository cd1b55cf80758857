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
package io.netty.channel.rdma.connection;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counters of one channel that its event loop alone writes, so that counting costs no locked instruction. Any thread
 * may read them.
 */
public final class LoopCounters {
    /** The counters of all channels of a kind, also of those that are closed. Any thread. */
    public static final class All {
        private final Set<LoopCounters> open = new HashSet<>();
        private final LoopCounters closed;

        /** @param size how many counters a channel has. */
        public All(int size) {
            closed = new LoopCounters(this, size);
        }

        /** The sums at this moment. */
        public synchronized LoopCounters sum() {
            LoopCounters sum = new LoopCounters(this, closed.values.length());
            sum.addAll(closed);
            open.forEach(sum::addAll);
            return sum;
        }
    }

    private final All all;
    private final AtomicLongArray values;

    private LoopCounters(All all, int size) {
        this.all = all;
        values = new AtomicLongArray(size);
    }

    public LoopCounters(All all) {
        this(all, all.closed.values.length());
    }

    /** From now on they are among all; {@link #close()} will follow. Any thread. */
    public void open() {
        synchronized (all) {
            all.open.add(this);
        }
    }

    /** Nothing more is counted. Has no effect if they are closed, or were never opened. Any thread. */
    public void close() {
        synchronized (all) {
            if (all.open.remove(this)) {
                all.closed.addAll(this);
            }
        }
    }

    private void addAll(LoopCounters other) {
        for (int i = 0; i < values.length(); i++) {
            values.addAndGet(i, other.values.get(i));
        }
    }

    /** On the loop. */
    public void add(int counter, int count) {
        if (count != 0) {
            values.lazySet(counter, values.getPlain(counter) + count);
        }
    }

    public long get(int counter) {
        return values.get(counter);
    }
}
