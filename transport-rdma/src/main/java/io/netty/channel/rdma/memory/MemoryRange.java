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
 * A range of native memory from which devices send in place. It is registered with a device when the device first sends
 * from it, and stays registered until {@link #close}. Thread-safe.
 */
public class MemoryRange {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(MemoryRange.class);
    private static final long RETRY_NANOS = 1_000_000_000;
    private static final MemoryRegion[] NONE = { };

    /** Selects registrations that fail, for tests that can't reach the limit of locked memory. */
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

    /** Returns the region of this memory on a device. The first call registers it. */
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
     * Returns the {@link #region}, or {@code null} if registration fails, for callers that can copy instead. Tries
     * again after a second, because the limit of locked memory may be reached only for a time.
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

    /** Registers the memory once more, for the caller. */
    public MemoryRegion register(ProtectionDomain domain, int accessFlags) throws VerbsException {
        // Registration of address 0 fails, because no memory is there.
        return domain.register(shortage.test(this) ? 0 : address, length, accessFlags);
    }

    /** Returns the number of devices that the memory is registered with. */
    int regions() {
        int count = 0;
        for (MemoryRegion region : regions) {
            count += region == null ? 0 : 1;
        }
        return count;
    }

    /** Ends all registrations. Nothing may use the memory any more. */
    public synchronized void close() {
        for (int index = 0; index < regions.length; index++) {
            if (regions[index] != null) {
                regions[index].close();
                DeviceContext.all()[index].counters.deregistered(length);
            }
        }
        // Assigning NONE allocates nothing, so the end can't fail for lack of memory.
        regions = NONE;
    }

    @Override
    public String toString() {
        return "0x" + Long.toHexString(address) + '+' + length + " of " + owner;
    }
}
