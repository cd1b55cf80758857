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
package io.netty.channel.rdma;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;

import java.util.concurrent.TimeUnit;

/**
 * Finds out that a connection has been idle for an interval. On its loop.
 */
final class KeepAlive implements Runnable {
    private final EventLoop loop;
    private final Runnable idle;
    private Future<?> timer;
    private boolean active;

    /** @param idle run when nothing was sent for an interval. */
    KeepAlive(EventLoop loop, Runnable idle) {
        this.loop = loop;
        this.idle = idle;
    }

    void start(int intervalMillis) {
        stop();
        active = false;
        timer = loop.scheduleWithFixedDelay(this, intervalMillis, intervalMillis, TimeUnit.MILLISECONDS);
    }

    void stop() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }

    /** Something was sent, and will fail if the peer does not answer. */
    void sent() {
        active = true;
    }

    @Override
    public void run() {
        if (!active) {
            idle.run();
        }
        active = false;
    }
}
