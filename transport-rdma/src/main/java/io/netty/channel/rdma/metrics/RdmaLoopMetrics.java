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
 * Counters of what one event loop with a {@link io.netty.channel.rdma.RdmaIoHandler} has done while it had RDMA
 * connections. A loop without them waits as Netty's epoll transport does, and nothing is counted. Any thread may read.
 */
public final class RdmaLoopMetrics {
    private final LoopHandler handler;

    private RdmaLoopMetrics(LoopHandler handler) {
        this.handler = handler;
    }

    /** The metrics of all event loops of this process that run now, in the order in which they have begun. */
    public static List<RdmaLoopMetrics> all() {
        return LoopHandler.all().elements().stream().map(RdmaLoopMetrics::new).collect(Collectors.toList());
    }

    /**
     * Tells of all event loops that run now, and from now on of each that begins or ends, until what this returns is
     * closed. Other loops that begin or end wait meanwhile, so it must not take long.
     *
     * @param begun told at once of those that run, then on the threads of the loops.
     * @param ended gets an object that is equal to the one that {@code begun} got.
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

    /** Completions of work requests that it has taken from its completion queues. */
    public long completions() {
        return handler.count(Counter.COMPLETIONS);
    }

    /** The number of times that the loop has looked into its completion queues and found something. */
    public long fruitfulPolls() {
        return handler.count(Counter.FRUITFUL_POLLS);
    }

    /** The number of times that the loop has looked into its completion queues and found nothing. */
    public long emptyPolls() {
        return handler.count(Counter.EMPTY_POLLS);
    }

    /**
     * The number of times that the loop had nothing to do and has polled instead of sleeping at once; not with busy
     * polling.
     */
    public long spins() {
        return handler.count(Counter.SPINS);
    }

    /** The number of the {@link #spins()} that have found nothing. */
    public long spinsInVain() {
        return handler.count(Counter.SPINS_IN_VAIN);
    }

    /** The number of times that the loop has gone to sleep. It was woken up as often, but for the sleep that lasts. */
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
