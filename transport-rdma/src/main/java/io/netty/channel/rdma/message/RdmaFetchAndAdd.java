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
 * ATOMIC FETCH AND ADD: adds to 8 bytes of the peer's memory, a number in the peer's byte order that wraps around. When
 * the promise is done, {@link #oldValue()} is the number before.
 */
public final class RdmaFetchAndAdd extends ValueOperation {
    private long addend;

    /**
     * @param remote with {@link RdmaPermission#REMOTE_ATOMIC}.
     * @param offset in that memory, in bytes. The address there must be a multiple of 8.
     */
    public RdmaFetchAndAdd(RemoteMemory remote, long offset, long addend) {
        super(remote, offset, RdmaPermission.REMOTE_ATOMIC);
        this.addend = addend;
    }

    /**
     * Adds, with the old number in a buffer.
     *
     * @param result gets the 8 bytes after its readable bytes. The caller keeps its reference.
     */
    public RdmaFetchAndAdd(ByteBuf result, RemoteMemory remote, long offset, long addend) {
        super(result, remote, offset, RdmaPermission.REMOTE_ATOMIC);
        this.addend = addend;
    }

    /**
     * Adds, with the old number in registered memory, which may be a peer device's. {@code oldValue()} fails then.
     *
     * @param result 8 bytes of memory with {@link RdmaPermission#LOCAL_WRITE}.
     */
    public RdmaFetchAndAdd(RegisteredSlice result, RemoteMemory remote, long offset, long addend) {
        super(List.of(result), remote, offset, RdmaPermission.REMOTE_ATOMIC);
        this.addend = addend;
    }

    /** The number that is added. */
    public long addend() {
        return addend;
    }

    /**
     * Sets the addend for the next write of the operation.
     *
     * @throws IllegalStateException if the operation is in flight.
     */
    public RdmaFetchAndAdd addend(long newAddend) {
        change();
        addend = newAddend;
        return this;
    }

    /**
     * The number that was there.
     *
     * @throws IllegalStateException if the operation has not succeeded, or the number is in a slice.
     */
    public long oldValue() {
        return result();
    }

    @Override
    void begin(SendWorkRequests chain, long id, int flags) {
        chain.fetchAndAdd(id, flags, address(), key(), addend);
    }

    @Override
    RdmaFetchAndAdd again() {
        return new RdmaFetchAndAdd(remote(), offset(), addend);
    }

    @Override
    RdmaFetchAndAdd into(ByteBuf result) {
        return new RdmaFetchAndAdd(result, remote(), offset(), addend);
    }

    @Override
    RdmaFetchAndAdd withLocal() {
        return new RdmaFetchAndAdd(local().get(0), remote(), offset(), addend);
    }
}
