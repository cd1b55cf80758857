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
import io.netty.channel.rdma.verbs.WorkCompletionStatus;

import java.util.List;

/**
 * An operation on the peer's memory, which the peer's device executes.
 */
abstract class RemoteOperation extends RdmaOperation {
    private final RemoteMemory remote;
    private long offset;
    private final RdmaPermission needed;

    /** @param needed the permission that the memory must have. */
    RemoteOperation(ByteBuf data, RemoteMemory remote, long offset, RdmaPermission needed) {
        super(data);
        this.remote = remote;
        this.offset = offset;
        this.needed = needed;
    }

    /** @param needed the permission that the memory must have. */
    RemoteOperation(List<RegisteredSlice> local, RemoteMemory remote, long offset, RdmaPermission needed) {
        super(local);
        this.remote = remote;
        this.offset = offset;
        this.needed = needed;
    }

    /** The memory of the peer, or {@code null} for an operation without bytes. */
    public final RemoteMemory remote() {
        return remote;
    }

    /** The offset in the remote memory, in bytes from its beginning. */
    public final long offset() {
        return offset;
    }

    /**
     * Sets the offset in the remote memory for the next write of the operation.
     *
     * @throws IllegalStateException if the operation is in flight.
     */
    public final RdmaOperation offset(long newOffset) {
        change();
        offset = newOffset;
        return this;
    }

    final long address() {
        return remote == null ? 0 : remote.address() + offset;
    }

    final int key() {
        return remote == null ? 0 : remote.key();
    }

    /** Number of bytes that the remote memory has. */
    private long remoteLength() {
        return remote == null ? 0 : remote.length();
    }

    /** The lesser of a length and the rest of the remote memory, if the offset is inside of it. */
    final int limited(int length) {
        return offset < 0 || offset > remoteLength() ? length : (int) Math.min(length, remoteLength() - offset);
    }

    @Override
    RdmaMessageMetrics.Kind kind() {
        return RdmaMessageMetrics.Kind.WRITE;
    }

    /** Refuses an operation that the peer's device would refuse, which would end the connection. */
    @Override
    RdmaOperationException check() {
        int length = length();
        if (offset < 0 || offset > remoteLength() - length) {
            return new RdmaOperationException(this, WorkCompletionStatus.REMOTE_ACCESS_ERROR, length +
                    " bytes at offset " + offset + " are not all in " +
                    (remote == null ? "no remote memory" : "the " + remote));
        }
        // An operation without bytes needs no key (InfiniBand Architecture Specification vol. 1, C9-88).
        if (length > 0 && !remote.permissions().contains(needed)) {
            return new RdmaOperationException(this, WorkCompletionStatus.REMOTE_ACCESS_ERROR, needed +
                    " is not allowed by the " + remote);
        }
        return null;
    }
}
