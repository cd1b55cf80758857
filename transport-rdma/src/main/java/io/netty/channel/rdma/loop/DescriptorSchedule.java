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
 * When an event loop that finds completions, or polls for them, looks at its descriptors: every {@link #MIN_NANOS} if
 * there was something at the last look, else half as often each time, down to every {@link #MAX_NANOS}. A look is a
 * system call, and a loop with busy queue pairs often has no TCP channels: then nothing comes but connections and what
 * the device reports. Tasks for the loop are seen without a look, and one that sleeps is not told to wait.
 *
 * <p>Time is {@link System#nanoTime()}, and given by the caller. On the event loop.
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
     * The loop has looked.
     *
     * @param now from when on it need not look
     * @param found whether there was something
     */
    void looked(long now, boolean found) {
        interval = found ? MIN_NANOS : Math.min(2 * interval, MAX_NANOS);
        next = now + interval;
    }

    /**
     * Notes that the work that followed from the last look took until now, which does not make the next look come
     * sooner.
     */
    void lookedUntil(long now) {
        next = now + interval;
    }
}
