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
package io.netty.channel.rdma.verbs;

import io.netty.util.internal.UnstableApi;

/**
 * The limits of a device ({@code struct ibv_device_attr}, ibv_query_device(3)).
 */
@UnstableApi
public final class DeviceAttributes {
    /** IBV_DEVICE_MEM_WINDOW_TYPE_2A and IBV_DEVICE_MEM_WINDOW_TYPE_2B of verbs.h. */
    private static final long MEMORY_WINDOW_TYPE_2 = 1 << 23 | 1 << 24;
    /** IBV_DEVICE_MEM_MGT_EXTENSIONS. */
    private static final long MANAGEMENT_EXTENSIONS = 1 << 21;

    static final int COUNT = 22;

    private final long[] values;

    /** @param values in the order of the accessors below, as filled by {@code device.c}. */
    DeviceAttributes(long[] values) {
        this.values = values;
    }

    /** Maximum number of queue pairs. */
    public int maxQueuePairs() {
        return (int) values[0];
    }

    /** Maximum number of work requests of a send or receive queue. */
    public int maxWorkRequests() {
        return (int) values[1];
    }

    /** Maximum number of scatter-gather elements of a work request that isn't an RDMA read. */
    public int maxSges() {
        return (int) values[2];
    }

    /** Maximum number of completion queues. */
    public int maxCompletionQueues() {
        return (int) values[3];
    }

    /** Maximum number of entries of a completion queue. */
    public int maxCompletions() {
        return (int) values[4];
    }

    /** Maximum number of memory regions. */
    public int maxMemoryRegions() {
        return (int) values[5];
    }

    /** The largest memory region in bytes; as unsigned number where negative. */
    public long maxMemoryRegionSize() {
        return values[6];
    }

    /** Maximum number of protection domains. */
    public int maxProtectionDomains() {
        return (int) values[7];
    }

    /** Maximum number of RDMA reads and atomics that a queue pair serves at a time ("responder resources"). */
    public int maxResponderResources() {
        return (int) values[8];
    }

    /** Maximum number of RDMA reads and atomics that a queue pair has outstanding ("initiator depth"). */
    public int maxInitiatorDepth() {
        return (int) values[9];
    }

    /** Maximum number of shared receive queues; 0 if there are none. */
    public int maxSharedReceiveQueues() {
        return (int) values[10];
    }

    /** Maximum number of receives in a shared receive queue. */
    public int maxSharedReceiveRequests() {
        return (int) values[16];
    }

    /** Maximum number of scatter-gather elements of a receive in a shared receive queue. */
    public int maxSharedReceiveSges() {
        return (int) values[17];
    }

    /** Maximum number of multicast groups; 0 if there are none. */
    public int maxMulticastGroups() {
        return (int) values[18];
    }

    /** Maximum number of members of this device in one multicast group. */
    public int maxMulticastMembers() {
        return (int) values[19];
    }

    /** Maximum number of memory windows; 0 if there are none of type 2, which {@link MemoryWindow} is. */
    public int maxMemoryWindows() {
        return (values[20] & MEMORY_WINDOW_TYPE_2) == 0 ? 0 : (int) values[21];
    }

    /**
     * Returns whether a send can invalidate a memory window of the peer: {@link SendWorkRequests#sendWithInvalidate}.
     */
    public boolean supportsSendWithInvalidate() {
        return (values[20] & (MEMORY_WINDOW_TYPE_2 | MANAGEMENT_EXTENSIONS)) != 0;
    }

    /** The number of ports; they are numbered from 1. */
    public int portCount() {
        return (int) values[11];
    }

    /** Returns whether the device has atomic operations ({@code atomic_cap}). */
    public boolean supportsAtomics() {
        return atomicCapability() != AtomicCapability.NONE;
    }

    /** The accesses against which atomic operations are atomic. */
    public AtomicCapability atomicCapability() {
        return AtomicCapability.of(values[12]);
    }

    /** The 64-bit node identifier. */
    public long nodeGuid() {
        return values[13];
    }

    /** The maker of the device. */
    public int vendorId() {
        return (int) values[14];
    }

    /** Maximum number of scatter-gather elements of an RDMA read. */
    public int maxReadSges() {
        return (int) values[15];
    }

    @Override
    public String toString() {
        return "vendor 0x" + Integer.toHexString(vendorId()) + ", " + portCount() + " port(s), up to " +
                maxQueuePairs() + " queue pairs of " + maxWorkRequests() + " requests of " + maxSges() + " elements, " +
                maxCompletionQueues() + " completion queues of " + maxCompletions() + ", " + maxMemoryRegions() +
                " memory regions of " + Long.toUnsignedString(maxMemoryRegionSize()) + " bytes, " +
                maxResponderResources() + " responder resources, initiator depth " + maxInitiatorDepth();
    }
}
