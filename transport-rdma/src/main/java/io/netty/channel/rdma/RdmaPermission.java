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
package io.netty.channel.rdma;

import io.netty.channel.rdma.verbs.AccessFlags;

import java.util.Set;

/**
 * Rights to memory, and rights of a peer through a connection. Local reading is always allowed. The description of
 * {@code io.netty.channel.rdma.message} has a table of the rights that each operation needs.
 */
public enum RdmaPermission {
    /** The own process receives into the memory, or reads a peer's memory into it. */
    LOCAL_WRITE(AccessFlags.LOCAL_WRITE),
    /** A peer reads the memory. */
    REMOTE_READ(AccessFlags.REMOTE_READ),
    /** A peer writes to the memory, which needs {@link #LOCAL_WRITE} as well (ibv_reg_mr(3)). */
    REMOTE_WRITE(AccessFlags.REMOTE_WRITE),
    /** A peer does atomic operations on the memory, which needs {@link #LOCAL_WRITE} as well (ibv_reg_mr(3)). */
    REMOTE_ATOMIC(AccessFlags.REMOTE_ATOMIC);

    private final int flag;

    RdmaPermission(int flag) {
        this.flag = flag;
    }

    /** The bits of {@link AccessFlags}. */
    public static int accessFlags(Set<RdmaPermission> permissions) {
        int flags = 0;
        for (RdmaPermission permission : permissions) {
            flags |= permission.flag;
        }
        return flags;
    }
}
