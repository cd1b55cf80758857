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
package io.netty.channel.rdma.metrics;

import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.LoopHandler.Counter;
import io.netty.channel.rdma.monitor.ConnectionRecord;

import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Counters of one event loop with a {@link io.netty.channel.rdma.RdmaIoHandler}, for the time in which it had RDMA
 * connections. Without them it waits like Netty's epoll transport, and counts nothing. Any thread may read.
 */
public final class RdmaLoopMetrics {
    private final LoopHandler handler;

    private RdmaLoopMetrics(LoopHandler handler) {
        this.handler = handler;
    }

    /** Returns the metrics of all running event loops of this process, in the order of their start. */
    public static List<RdmaLoopMetrics> all() {
        return LoopHandler.all().elements().stream().map(RdmaLoopMetrics::new).collect(Collectors.toList());
    }

    /**
     * Reports all running event loops, and from now on each that begins or ends, until the result is closed. Other
     * loops that begin or end wait for the callbacks, so these must not take long.
     *
     * @param begun called at once for the running loops, then on the threads of new loops.
     * @param ended called with an object that is equal to the one that {@code begun} got.
     */
    public static AutoCloseable watch(Consumer<RdmaLoopMetrics> begun, Consumer<RdmaLoopMetrics> ended) {
        return LoopHandler.all().watch(handler -> begun.accept(new RdmaLoopMetrics(handler)),
                handler -> ended.accept(new RdmaLoopMetrics(handler)));
    }

    /** The name that the thread of the loop had when it began. */
    public String name() {
        return handler.name();
    }

    /** Connections, of byte streams and of messages, that belong to the loop now. */
    public int connections() {
        int count = 0;
        for (ConnectionRecord connection : ConnectionRecord.open().elements()) {
            count += connection.loop() == handler ? 1 : 0;
        }
        return count;
    }

    /** Returns the number of completions that the loop has taken from its completion queues. */
    public long completions() {
        return handler.count(Counter.COMPLETIONS);
    }

    /** Returns the number of polls of the completion queues that found completions. */
    public long fruitfulPolls() {
        return handler.count(Counter.FRUITFUL_POLLS);
    }

    /** Returns the number of polls of the completion queues that found nothing. */
    public long emptyPolls() {
        return handler.count(Counter.EMPTY_POLLS);
    }

    /** Returns the number of times that the idle loop polled instead of sleeping at once, without busy polling. */
    public long spins() {
        return handler.count(Counter.SPINS);
    }

    /** The number of the {@link #spins()} that have found nothing. */
    public long spinsInVain() {
        return handler.count(Counter.SPINS_IN_VAIN);
    }

    /** Returns the number of sleeps. The number of wake-ups is the same, or one less during a sleep. */
    public long sleeps() {
        return handler.count(Counter.SLEEPS);
    }

    /**
     * The number of the {@link #sleeps()} that have ended with completions. Others have ended by tasks, timers, or TCP.
     */
    public long completionWakeups() {
        return handler.count(Counter.COMPLETION_WAKEUPS);
    }

    /** The time that the loop has slept, in nanoseconds. */
    public long sleptNanos() {
        return handler.sleptNanos();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RdmaLoopMetrics && ((RdmaLoopMetrics) other).handler == handler;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(handler);
    }

    @Override
    public String toString() {
        return name() + ": " + completions() + " completions in " + fruitfulPolls() + " polls, " + emptyPolls() +
                " empty polls, " + sleeps() + " sleeps (" + completionWakeups() + " ended by completions)";
    }
}
