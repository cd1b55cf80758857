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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBuf;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.verbs.SendWorkRequests;

import java.util.List;

/**
 * Gets the value of the peer's {@link RdmaSyncEvent}, by an RDMA READ.
 */
public final class RdmaSyncEventGet extends ValueOperation {
    /** @param event as exported by its owner, with {@link RdmaPermission#REMOTE_READ}. */
    public RdmaSyncEventGet(RemoteMemory event) {
        super(event, 0, RdmaPermission.REMOTE_READ);
    }

    /**
     * Gets the value in a buffer, in the byte order of the hosts.
     *
     * @param result gets the value after its readable bytes: 8 bytes, or as many as are writable. The caller keeps its
     *         reference.
     */
    public RdmaSyncEventGet(ByteBuf result, RemoteMemory event) {
        super(result, event, 0, RdmaPermission.REMOTE_READ);
    }

    /**
     * Gets the value in registered memory, which may be a peer device's. {@link #value()} does not return it then.
     *
     * @param result slices that get the value in their order: 8 bytes, or as many as they have. Memory with {@link
     *         RdmaPermission#LOCAL_WRITE}, as for an {@link RdmaRead}.
     */
    public RdmaSyncEventGet(List<RegisteredSlice> result, RemoteMemory event) {
        super(result, event, 0, RdmaPermission.REMOTE_READ);
    }

    @Override
    RdmaMessageMetrics.Kind kind() {
        return RdmaMessageMetrics.Kind.READ;
    }

    /**
     * The value.
     *
     * @throws IllegalStateException if the operation has not succeeded with 8 bytes, or the value is in slices.
     */
    public long value() {
        return result();
    }

    @Override
    void begin(SendWorkRequests chain, long id, int flags) {
        chain.read(id, flags, address(), key());
    }

    @Override
    RdmaSyncEventGet again() {
        return new RdmaSyncEventGet(remote());
    }

    @Override
    RdmaSyncEventGet into(ByteBuf result) {
        return new RdmaSyncEventGet(result, remote());
    }

    @Override
    RdmaSyncEventGet withLocal() {
        return new RdmaSyncEventGet(local(), remote());
    }
}
