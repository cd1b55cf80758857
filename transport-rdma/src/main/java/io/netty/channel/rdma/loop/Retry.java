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

import java.util.function.ObjLongConsumer;

/**
 * Repeats a failed operation when no event tells that it can succeed. The delay is a millisecond at first, and then
 * doubles up to {@value #LAST_MILLIS} ms. On the caller's loop.
 */
public final class Retry {
    private static final long FIRST_MILLIS = 1;
    private static final long LAST_MILLIS = 16;

    private final ObjLongConsumer<Runnable> scheduler;
    private final Runnable attempt;
    private long millis = FIRST_MILLIS;
    private boolean planned;

    /** @param scheduler runs a task after so many milliseconds. */
    public Retry(ObjLongConsumer<Runnable> scheduler, Runnable attempt) {
        this.scheduler = scheduler;
        this.attempt = attempt;
    }

    /** Plans the next try, after a failed one. */
    public void later() {
        if (!planned) {
            scheduler.accept(this::run, millis);
            planned = true;
            millis = Math.min(2 * millis, LAST_MILLIS);
        }
    }

    private void run() {
        planned = false;
        attempt.run();
    }

    /** Notes success: the next delay is as short as the first one. */
    public void done() {
        millis = FIRST_MILLIS;
    }
}
