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
package io.netty.channel.rdma.loop;

/**
 * Decides when an event loop that polls for completions runs epoll: {@link #MIN_NANOS} after a run that found events.
 * After each run without events the interval doubles, up to {@link #MAX_NANOS}. A run is a system call, and a loop with
 * busy queue pairs often has no TCP channels. Then events are only new connections and reports of devices. The loop
 * sees its tasks without epoll. A loop that sleeps does not need this class.
 *
 * <p>The caller passes the time, {@link System#nanoTime()}. On the event loop.
 */
final class DescriptorSchedule {
    static final long MIN_NANOS = 20_000;
    static final long MAX_NANOS = 8 * MIN_NANOS;

    private long next;
    private long interval = MIN_NANOS;

    DescriptorSchedule(long now) {
        next = now;
    }

    boolean isDue(long now) {
        return now - next >= 0;
    }

    /**
     * Notes that the loop has run epoll.
     *
     * @param now the begin of the next interval
     * @param found whether there were events
     */
    void looked(long now, boolean found) {
        interval = found ? MIN_NANOS : Math.min(2 * interval, MAX_NANOS);
        next = now + interval;
    }

    /** Notes that the work after the last run of epoll took until now. The next interval begins now. */
    void lookedUntil(long now) {
        next = now + interval;
    }
}
