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
package io.netty.example.rdma.pingpong;

import io.netty.channel.SingleThreadEventLoop;

/**
 * Looks at memory once in each turn of an event loop, between I/O and I/O. Meanwhile the loop never sleeps, whatever
 * its configuration is. For use on the event loop.
 *
 * <p>A task that executes itself again would not do: an event loop runs tasks until there are none, for up to a second,
 * and does no I/O meanwhile. A task at the end of a turn can't schedule another one for the same place. So the two
 * kinds of tasks schedule each other.
 */
final class MemoryWatch {
    private final SingleThreadEventLoop loop;
    private final Runnable look;
    private final Runnable inTurn = this::inTurn;
    private final Runnable afterTurn = this::afterTurn;
    private boolean stopped;

    MemoryWatch(SingleThreadEventLoop loop, Runnable look) {
        this.loop = loop;
        this.look = look;
    }

    void start() {
        loop.execute(inTurn);
    }

    void stop() {
        stopped = true;
    }

    private void inTurn() {
        if (!stopped) {
            look.run();
            loop.executeAfterEventLoopIteration(afterTurn);
        }
    }

    private void afterTurn() {
        if (!stopped && !loop.isShuttingDown()) {
            loop.execute(inTurn);
        }
    }
}
