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
 * The accesses that a memory region or queue pair allows, as bits to be or-ed ({@code enum ibv_access_flags},
 * ibv_reg_mr(3)). Local read is always allowed.
 */
@UnstableApi
public final class AccessFlags {
    /** The local adapter may write: needed to receive into the memory and as the target of an RDMA read. */
    public static final int LOCAL_WRITE = 1;
    /** A peer that knows the rkey may write. Requires {@link #LOCAL_WRITE}. */
    public static final int REMOTE_WRITE = 1 << 1;
    /** A peer that knows the rkey may read. */
    public static final int REMOTE_READ = 1 << 2;
    /** A peer that knows the rkey may do atomic operations. Requires {@link #LOCAL_WRITE}. */
    public static final int REMOTE_ATOMIC = 1 << 3;
    /** A {@link MemoryWindow} can be bound to the region. This flag alone gives a peer no access. */
    public static final int MEMORY_WINDOW_BIND = 1 << 4;

    private AccessFlags() { }
}
