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
package io.netty.channel.rdma.micrometer;

import io.micrometer.core.instrument.Tags;
import io.netty.channel.rdma.metrics.RdmaLoopMetrics;

/** Meters of one event loop. */
final class LoopMeters {
    private LoopMeters() { }

    static void register(Bound.Group<RdmaLoopMetrics> meters) {
        meters.gauge("netty.rdma.loop.connections", null, "Connections that belong to the event loop", Tags.empty(),
                RdmaLoopMetrics::connections);
        meters.counter("netty.rdma.loop.completions", null, "Completions of work requests that it has handled",
                Tags.empty(), RdmaLoopMetrics::completions);
        String polls = "How often it has looked into its completion queues";
        meters.counter("netty.rdma.loop.polls", null, polls, Tags.of("result", "fruitful"),
                RdmaLoopMetrics::fruitfulPolls);
        meters.counter("netty.rdma.loop.polls", null, polls, Tags.of("result", "empty"), RdmaLoopMetrics::emptyPolls);
        String spins = "How often it has polled for a while before it would sleep";
        meters.counter("netty.rdma.loop.spins", null, spins, Tags.of("result", "fruitful"),
                loop -> Math.max(0, loop.spins() - loop.spinsInVain()));
        meters.counter("netty.rdma.loop.spins", null, spins, Tags.of("result", "in_vain"),
                RdmaLoopMetrics::spinsInVain);
        meters.timer("netty.rdma.loop.sleep", "How often, and how long, it has slept", RdmaLoopMetrics::sleeps,
                RdmaLoopMetrics::sleptNanos);
        meters.counter("netty.rdma.loop.completion.wakeups", null,
                "Sleeps that completions have ended, not tasks, timers, or TCP", Tags.empty(),
                RdmaLoopMetrics::completionWakeups);
    }
}
