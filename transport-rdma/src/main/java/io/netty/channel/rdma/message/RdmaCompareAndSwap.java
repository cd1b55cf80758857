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
 * ATOMIC COMPARE AND SWAP: replaces a number of 8 bytes in the peer's memory, in the peer's byte order, if it equals
 * the expected number. When the promise is done, {@link #oldValue()} is the number before, which shows whether it was
 * replaced.
 */
public final class RdmaCompareAndSwap extends ValueOperation {
    private long expected;
    private long desired;

    /**
     * @param remote with {@link RdmaPermission#REMOTE_ATOMIC}.
     * @param offset in that memory, in bytes. The address there must be a multiple of 8.
     */
    public RdmaCompareAndSwap(RemoteMemory remote, long offset, long expected, long desired) {
        super(remote, offset, RdmaPermission.REMOTE_ATOMIC);
        this.expected = expected;
        this.desired = desired;
    }

    /**
     * Compares and swaps, with the old number in a buffer.
     *
     * @param result gets the 8 bytes after its readable bytes. The caller keeps its reference.
     */
    public RdmaCompareAndSwap(ByteBuf result, RemoteMemory remote, long offset, long expected, long desired) {
        super(result, remote, offset, RdmaPermission.REMOTE_ATOMIC);
        this.expected = expected;
        this.desired = desired;
    }

    /**
     * Compares and swaps, with the old number in registered memory, which may be a peer device's. {@code oldValue()}
     * fails then.
     *
     * @param result 8 bytes of memory with {@link RdmaPermission#LOCAL_WRITE}.
     */
    public RdmaCompareAndSwap(RegisteredSlice result, RemoteMemory remote, long offset, long expected, long desired) {
        super(List.of(result), remote, offset, RdmaPermission.REMOTE_ATOMIC);
        this.expected = expected;
        this.desired = desired;
    }

    /** The number that is replaced. */
    public long expected() {
        return expected;
    }

    /**
     * Sets the number for the next write of the operation.
     *
     * @throws IllegalStateException if the operation is in flight.
     */
    public RdmaCompareAndSwap expected(long newExpected) {
        change();
        expected = newExpected;
        return this;
    }

    /** The number that replaces the expected one. */
    public long desired() {
        return desired;
    }

    /**
     * Sets the number for the next write of the operation.
     *
     * @throws IllegalStateException if the operation is in flight.
     */
    public RdmaCompareAndSwap desired(long newDesired) {
        change();
        desired = newDesired;
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
        chain.compareAndSwap(id, flags, address(), key(), expected, desired);
    }

    @Override
    RdmaCompareAndSwap again() {
        return new RdmaCompareAndSwap(remote(), offset(), expected, desired);
    }

    @Override
    RdmaCompareAndSwap into(ByteBuf result) {
        return new RdmaCompareAndSwap(result, remote(), offset(), expected, desired);
    }

    @Override
    RdmaCompareAndSwap withLocal() {
        return new RdmaCompareAndSwap(local().get(0), remote(), offset(), expected, desired);
    }
}
