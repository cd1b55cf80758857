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
package io.netty.channel.rdma.memory;

import io.netty.channel.rdma.monitor.DeviceCounters;
import io.netty.channel.rdma.verbs.AccessFlags;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.DeviceAttributes;
import io.netty.channel.rdma.verbs.ProtectionDomain;
import io.netty.channel.rdma.verbs.VerbsException;

import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The part of a device that all event loops share. Its one protection domain lets them use the same registrations. It
 * is made with the first connection on the device, and kept until the process ends. Thread-safe.
 */
public final class DeviceContext {
    private static final Map<Device, DeviceContext> CONTEXTS = new IdentityHashMap<>();

    /** The contexts of all devices in use. Replaced, never changed. */
    private static volatile DeviceContext[] all = new DeviceContext[0];

    public final Device device;
    public final DeviceAttributes attributes;
    public final ProtectionDomain domain;
    /** True if the device has no immediate data, no atomics and no datagrams (RFC 5040). */
    public final boolean iwarp;
    /** The longest message in bytes that every port of the device carries; soft-RoCE: 8 MiB. */
    public final int maxMessage;
    public final DeviceCounters counters;
    /** Counts the devices from 0. */
    final int index;

    private DeviceContext(Device device, int index) throws VerbsException {
        this.device = device;
        this.index = index;
        attributes = device.attributes();
        iwarp = device.isIwarp();
        maxMessage = maxMessage(device, attributes.portCount());
        domain = device.allocateProtectionDomain();
        counters = new DeviceCounters(device.name(), device.verbs().provider().name().toLowerCase(Locale.ROOT));
    }

    private static int maxMessage(Device device, int ports) throws VerbsException {
        long least = Integer.MAX_VALUE;
        for (int port = 1; port <= ports; port++) {
            long size = Integer.toUnsignedLong(device.portAttributes(port).maxMessageSize());
            // A port that is down may report 0.
            least = size == 0 ? least : Math.min(least, size);
        }
        return (int) least;
    }

    /**
     * Returns the access rights with which memory can be registered.
     *
     * @param wanted {@link AccessFlags}.
     * @return the wanted rights without those that the device would refuse.
     */
    int access(int wanted) {
        return attributes.maxMemoryWindows() > 0 ? wanted : wanted & ~AccessFlags.MEMORY_WINDOW_BIND;
    }

    /** Returns the contexts of all devices in use. The caller must not change the array. */
    static DeviceContext[] all() {
        return all;
    }

    public static DeviceContext of(Device device) throws VerbsException {
        synchronized (CONTEXTS) {
            DeviceContext context = CONTEXTS.get(device);
            if (context == null) {
                context = new DeviceContext(device, CONTEXTS.size());
                CONTEXTS.put(device, context);
                DeviceContext[] next = Arrays.copyOf(all, all.length + 1);
                next[all.length] = context;
                all = next;
            }
            return context;
        }
    }
}
