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

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.netty.channel.rdma.metrics.RdmaDeviceMetrics;
import io.netty.channel.rdma.metrics.RdmaLoopMetrics;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * The meters of one registry. While this object watches loops and devices, it is reachable, and with it the sources of
 * meters, to which meters have only weak references.
 */
final class Bound {
    /** Meters that come and go together, and the object that they read. */
    final class Group<T> {
        private final T source;
        private final Tags groupTags;
        private final List<Meter> meters = new ArrayList<>();

        private Group(T source, Tags groupTags) {
            this.source = source;
            this.groupTags = groupTags;
        }

        /** @param unit {@code null} if it counts events. */
        void counter(String name, String unit, String description, Tags own, ToDoubleFunction<T> value) {
            meters.add(FunctionCounter.builder(name, source, value).baseUnit(unit).description(description)
                    .tags(groupTags.and(own)).register(registry));
        }

        void gauge(String name, String unit, String description, Tags own, ToDoubleFunction<T> value) {
            meters.add(Gauge.builder(name, source, value).baseUnit(unit).description(description)
                    .tags(groupTags.and(own)).register(registry));
        }

        void timer(String name, String description, ToLongFunction<T> count, ToDoubleFunction<T> nanos) {
            meters.add(FunctionTimer.builder(name, source, count, nanos, TimeUnit.NANOSECONDS)
                    .description(description).tags(groupTags).register(registry));
        }

        private void remove() {
            meters.forEach(registry::remove);
        }
    }

    static final String BYTES = "bytes";

    private final MeterRegistry registry;
    private final Tags tags;
    private final Map<Object, Group<?>> groups = new HashMap<>();
    private final AutoCloseable loops;
    private final AutoCloseable devices;

    Bound(MeterRegistry registry, Tags tags) {
        this.registry = registry;
        this.tags = tags;
        ProcessMeters.register(group(ProcessMeters.INSTANCE, Tags.empty()));
        loops = RdmaLoopMetrics.watch(
                loop -> LoopMeters.register(group(loop, Tags.of("loop", loop.name()))), this::remove);
        devices = RdmaDeviceMetrics.watch(
                device -> {
                    DeviceMeters source = new DeviceMeters(device);
                    Group<DeviceMeters> group = group(source,
                            Tags.of("device", device.name(), "provider", device.provider()));
                    DeviceMeters.register(group);
                    source.registerPorts(group);
                });
    }

    private synchronized <T> Group<T> group(T source, Tags groupTags) {
        Group<T> group = new Group<>(source, tags.and(groupTags));
        groups.put(source, group);
        return group;
    }

    private synchronized void remove(Object source) {
        Group<?> group = groups.remove(source);
        if (group != null) {
            group.remove();
        }
    }

    void close() {
        for (AutoCloseable watch : List.of(loops, devices)) {
            try {
                watch.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
        synchronized (this) {
            groups.values().forEach(Group::remove);
            groups.clear();
        }
    }
}
