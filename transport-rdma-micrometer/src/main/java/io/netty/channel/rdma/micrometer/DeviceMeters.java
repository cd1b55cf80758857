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
import io.netty.channel.rdma.metrics.RdmaDeviceMetrics;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;

import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Meters of one device. The kernel's counters are many files, so each scrape reads them once for all meters. */
final class DeviceMeters {
    private static final int MAX_STATUS = 23;
    private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RdmaDeviceMetrics device;

    DeviceMeters(RdmaDeviceMetrics device) {
        this.device = device;
    }

    static void register(Bound.Group<DeviceMeters> meters) {
        meters.gauge("netty.rdma.device.connections", null, "Connections that there are", Tags.empty(),
                of -> of.device.connections());
        String established = "Connections that were made";
        meters.counter("netty.rdma.device.established", null, established, Tags.of("side", "client"),
                of -> of.device.connects());
        meters.counter("netty.rdma.device.established", null, established, Tags.of("side", "server"),
                of -> of.device.accepts());
        meters.counter("netty.rdma.device.losses", null, "Connections that have ended by an error", Tags.empty(),
                of -> of.device.losses());
        meters.counter("netty.rdma.device.completions", null, "Completions of work requests", Tags.empty(),
                of -> of.device.completions());
        for (int status = 1; status <= MAX_STATUS; status++) {
            int failure = status;
            meters.counter("netty.rdma.device.failures", null, "Work completions without success", Tags.of("status",
                    WorkCompletionStatus.name(status)), of -> of.device.failures(failure));
        }
        meters.counter("netty.rdma.device.registrations", null, "Memory regions that were registered so far",
                Tags.empty(), of -> of.device.registrations());
        meters.gauge("netty.rdma.device.memory.regions", null, "Memory regions that are registered", Tags.empty(),
                of -> of.device.memoryRegions());
        meters.gauge("netty.rdma.device.memory.registered", Bound.BYTES, "Memory in these", Tags.empty(),
                of -> of.device.registeredMemory());
        meters.counter("netty.rdma.device.async.events", null, "Asynchronous events", Tags.empty(),
                of -> of.device.asyncEvents());
    }

    /** Registers meters of the kernel's counters, if any. The embedded provider has a counter of its own. */
    void registerPorts(Bound.Group<DeviceMeters> meters) {
        int port = 1;
        for (Map<String, Long> counters; !(counters = device.portCounters(port)).isEmpty(); port++) {
            PortCounters read = new PortCounters(port, counters);
            for (String name : counters.keySet()) {
                meters.counter("netty.rdma.port.counter", null,
                        "What the device counts, by the name of the kernel's file",
                        Tags.of("port", String.valueOf(port), "counter", name), of -> read.get(name));
            }
        }
    }

    private final class PortCounters {
        private final int port;
        private Map<String, Long> values;
        private long readNanos = System.nanoTime();

        PortCounters(int port, Map<String, Long> values) {
            this.port = port;
            this.values = values;
        }

        synchronized double get(String name) {
            long now = System.nanoTime();
            if (now - readNanos > MAX_AGE_NANOS) {
                readNanos = now;
                values = device.portCounters(port);
            }
            Long value = values.get(name);
            // Unsigned.
            return value == null ? Double.NaN : value >= 0 ? value : value + 0x1p64;
        }
    }
}
