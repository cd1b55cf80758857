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
 * Registered memory ({@code struct ibv_mr}). Any thread.
 * <p>
 * Close it only when no posted work request refers to it. Before that, no queue pair of the domain may be connected to
 * a peer that knows the rkey; otherwise the peer's one-sided requests fail.
 */
@UnstableApi
public final class MemoryRegion extends VerbsObject {
    private final long memoryAddress;
    private final long length;
    private final int lkey;
    private final int rkey;
    private final int access;
    // Keeps the buffer from being garbage-collected.
    private final Object memory;

    /**
     * @param domain already retained.
     * @param access the access of the registration.
     * @param memory the object that must stay reachable while the region is open, or {@code null}.
     */
    MemoryRegion(long address, ProtectionDomain domain, long memoryAddress, long length, int access, Object memory) {
        super(VerbsResource.MEMORY_REGION, address, domain);
        this.memoryAddress = memoryAddress;
        this.length = length;
        this.access = access;
        this.memory = memory;
        long keys = keys0(address);
        lkey = (int) (keys >>> 32);
        rkey = (int) keys;
    }

    /** Returns the address of the first byte, for work requests and peers. */
    public long memoryAddress() {
        return memoryAddress;
    }

    /** The length in bytes. */
    public long length() {
        return length;
    }

    /** The key of local work requests. */
    public int lkey() {
        return lkey;
    }

    /** The key that a peer needs for one-sided access. */
    public int rkey() {
        return rkey;
    }

    /** The access that the region was registered with, of {@link AccessFlags}. */
    public int access() {
        return access;
    }

    @Override
    int destroy(long address) {
        return deregister0(api(), address);
    }

    @Override
    public String toString() {
        return super.toString() + " of " + length + " bytes" + (memory == null ? "" : " (" + memory + ')');
    }

    static native long register0(long api, long pd, long address, long length, int access);

    static native long registerDmabuf0(long api, long pd, long offset, long length, long iova, int fd, int access);

    static native long registerCuda0(long api, long pd, long address, long length, int access, boolean dmabuf);

    private static native int deregister0(long api, long mr);

    /** The lkey in the upper half and the rkey in the lower. */
    private static native long keys0(long mr);
}
