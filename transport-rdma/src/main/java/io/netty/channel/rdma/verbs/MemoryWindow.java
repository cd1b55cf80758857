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
 * A separate key for a part of a memory region ({@code struct ibv_mw} of type 2). {@link SendWorkRequests#bind} opens
 * this part to the peer of one queue pair. {@link SendWorkRequests#invalidate} on this side, or {@link
 * SendWorkRequests#sendWithInvalidate} on the peer's, closes it again. The region stays registered. One thread at a
 * time.
 * <p>
 * Each binding has another key. Only its lowest 8 bits change (ibv_inc_rkey(3)), so keys repeat after 256 bindings.
 * Close the window before the region, and before its queue pair, whose destruction waits for the window on soft-RoCE.
 */
@UnstableApi
public final class MemoryWindow extends VerbsObject {
    private static final int CHANGING_BITS = 0xFF;

    /** @param domain already retained. */
    MemoryWindow(long address, ProtectionDomain domain) {
        super(VerbsResource.MEMORY_WINDOW, address, domain);
    }

    /** Returns the key of the latest binding, which may not exist any more. */
    public int rkey() {
        return key0(address());
    }

    /** The key for the next binding. */
    public int nextKey() {
        int current = rkey();
        return current & ~CHANGING_BITS | current + 1 & CHANGING_BITS;
    }

    /**
     * Notes that the window was bound. Devices read from the window the key that an invalidation or another binding
     * replaces, and expect the application to store it there.
     *
     * @param rkey the argument of {@link SendWorkRequests#bind}.
     */
    public void bound(int rkey) {
        setKey0(address(), rkey);
    }

    @Override
    int destroy(long address) {
        return deallocate0(address);
    }

    static native long allocate0(long pd);

    private static native int deallocate0(long mw);

    private static native int key0(long mw);

    private static native void setKey0(long mw, int rkey);
}
