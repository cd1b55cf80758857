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
package io.netty.example.rdma.pubsub;

import java.util.concurrent.locks.LockSupport;

/**
 * Publishes one edition after the other, on a thread of its own: nothing makes it wait for those who copy them.
 */
final class Press implements AutoCloseable {
    private final Outlet outlet;
    private final long intervalNanos;
    private final Thread thread = new Thread(this::run, "press");
    private volatile boolean stopped;

    /** @param outlet belongs to this object. */
    Press(Outlet outlet, long intervalNanos) {
        this.outlet = outlet;
        this.intervalNanos = intervalNanos;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    private void run() {
        try (Outlet open = outlet) {
            for (long number = 1; !stopped; number++) {
                open.publish(number);
                LockSupport.parkNanos(intervalNanos);
            }
        }
    }

    /** Returns when the last edition is out. */
    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                // An edition takes no time worth mentioning.
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
