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

import io.netty.channel.rdma.verbs.MemoryRegion;
import io.netty.channel.rdma.verbs.ProtectionDomain;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.Arrays;
import java.util.function.Predicate;

/**
 * A range of native memory from which the devices send in place. It is registered with a device when that first sends
 * from it, and stays so until it is closed. Thread-safe.
 */
public class MemoryRange {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(MemoryRange.class);
    private static final long RETRY_NANOS = 1_000_000_000;
    private static final MemoryRegion[] NONE = { };

    /** The registrations that fail, for tests, which can't reach the limit of locked memory everywhere. */
    static volatile Predicate<MemoryRange> shortage = range -> false;

    public final long address;
    public final long length;
    private final int access;
    /** Keeps the memory alive. */
    private final Object owner;
    /** The regions by {@link DeviceContext#index}. Replaced, never changed. */
    private volatile MemoryRegion[] regions = NONE;
    private volatile boolean failed;
    private volatile long retryNanos;

    public MemoryRange(long address, long length, int access, Object owner) {
        this.address = address;
        this.length = length;
        this.access = access;
        this.owner = owner;
    }

    public boolean contains(long start, long bytes) {
        return start >= address && start + bytes <= address + length;
    }

    /** The region of this memory on a device; registers it the first time. */
    public MemoryRegion region(DeviceContext device) throws VerbsException {
        MemoryRegion[] current = regions;
        MemoryRegion region = device.index < current.length ? current[device.index] : null;
        return region != null ? region : register(device);
    }

    private synchronized MemoryRegion register(DeviceContext device) throws VerbsException {
        MemoryRegion[] current = regions;
        if (device.index < current.length && current[device.index] != null) {
            return current[device.index];
        }
        MemoryRegion region = register(device.domain, device.access(access));
        device.counters.registered(length);
        MemoryRegion[] next = Arrays.copyOf(current, Math.max(current.length, device.index + 1));
        next[device.index] = region;
        regions = next;
        return region;
    }

    /**
     * The {@link #region} of memory that can also be copied: {@code null} if it can't be registered. Registration is
     * tried again after a while, as the limit of locked memory may be reached for a time only.
     */
    public MemoryRegion regionOrNull(DeviceContext device) {
        MemoryRegion[] current = regions;
        MemoryRegion region = device.index < current.length ? current[device.index] : null;
        return region != null ? region : tryRegister(device);
    }

    private MemoryRegion tryRegister(DeviceContext device) {
        if (failed && System.nanoTime() - retryNanos < 0) {
            return null;
        }
        try {
            return register(device);
        } catch (VerbsException e) {
            logger.warn("Memory can't be registered with {}, and is copied when it is sent: {}", device.device, this,
                    e);
            retryNanos = System.nanoTime() + RETRY_NANOS;
            failed = true;
            return null;
        }
    }

    /** Registers it once more. */
    public MemoryRegion register(ProtectionDomain domain, int accessFlags) throws VerbsException {
        // There is no memory at address 0.
        return domain.register(shortage.test(this) ? 0 : address, length, accessFlags);
    }

    /** Number of devices that it is registered with. */
    int regions() {
        int count = 0;
        for (MemoryRegion region : regions) {
            count += region == null ? 0 : 1;
        }
        return count;
    }

    /** Ends all registrations. Nothing may refer to the memory any more. */
    public synchronized void close() {
        for (int index = 0; index < regions.length; index++) {
            if (regions[index] != null) {
                regions[index].close();
                DeviceContext.all()[index].counters.deregistered(length);
            }
        }
        // The end needs no memory.
        regions = NONE;
    }

    @Override
    public String toString() {
        return "0x" + Long.toHexString(address) + '+' + length + " of " + owner;
    }
}
