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
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;

import java.nio.ByteOrder;
import java.util.List;

import static io.netty.util.internal.ObjectUtil.checkNotNull;

/**
 * An operation on 8 bytes of the peer's memory that returns their old value: a number in the byte order of the hosts,
 * which must be the same for both. The number goes to a buffer or to slices of the application, or to the operation.
 */
abstract class ValueOperation extends RemoteOperation {
    /** True if only the operation keeps the number. */
    private final boolean kept;
    private volatile long value;
    private volatile boolean done;

    ValueOperation(RemoteMemory remote, long offset, RdmaPermission needed) {
        super(Unpooled.EMPTY_BUFFER, checkNotNull(remote, "remote"), offset, needed);
        kept = true;
    }

    /** @param result gets the number after its readable bytes; the caller keeps its reference. */
    ValueOperation(ByteBuf result, RemoteMemory remote, long offset, RdmaPermission needed) {
        super(retained(result, remote), remote, offset, needed);
        kept = false;
    }

    ValueOperation(List<RegisteredSlice> result, RemoteMemory remote, long offset, RdmaPermission needed) {
        super(result, checkNotNull(remote, "remote"), offset, needed);
        kept = false;
    }

    /** Retains the buffer after the other arguments were checked. */
    private static ByteBuf retained(ByteBuf result, RemoteMemory remote) {
        checkNotNull(remote, "remote");
        return result.retain();
    }

    /** Not every device has atomic operations. */
    @Override
    RdmaMessageMetrics.Kind kind() {
        return RdmaMessageMetrics.Kind.ATOMIC;
    }

    /** Returns whether the operation itself keeps the number. The device then writes to memory of the channel. */
    final boolean isKept() {
        return kept;
    }

    @Override
    final int bufferLength() {
        return kept ? Long.BYTES : content().writableBytes();
    }

    @Override
    int requested() {
        return Math.min(Long.BYTES, super.requested());
    }

    @Override
    final int index() {
        return content().writerIndex();
    }

    @Override
    final void completed(int bytes) {
        super.completed(bytes);
        if (!kept && !isLocal()) {
            int from = content().writerIndex();
            content().writerIndex(from + bytes);
            if (bytes == Long.BYTES) {
                yields(number(content(), from));
            }
        }
    }

    /** Sets the number. */
    final void yields(long number) {
        value = number;
        done = true;
    }

    /** A number in the byte order of the host. */
    static long number(ByteBuf from, int index) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? from.getLongLE(index) : from.getLong(index);
    }

    /** The former value of the memory, once the promise of the write has succeeded. */
    final long result() {
        if (isLocal()) {
            throw new IllegalStateException("the number is in the slice: " + local());
        }
        if (!done) {
            throw new IllegalStateException(this + " is not done, or has failed");
        }
        return value;
    }

    @Override
    void written() {
        super.written();
        done = false;
    }

    /** Checks that an atomic operation has 8 aligned bytes, as a device does (IBA vol. 1, 9.4.5). */
    @Override
    final RdmaOperationException check() {
        RdmaOperationException inherited = super.check();
        if (inherited != null || kind() != RdmaMessageMetrics.Kind.ATOMIC) {
            return inherited;
        }
        if (length() != Long.BYTES) {
            return new RdmaOperationException(this, WorkCompletionStatus.LOCAL_LENGTH_ERROR,
                    "the result has 8 bytes, and there is room for " + length());
        }
        if (address() % Long.BYTES != 0) {
            return new RdmaOperationException(this, WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                    "offset " + offset() + " in the " + remote() + " is no multiple of 8 in its owner's memory");
        }
        return null;
    }

    @Override
    final RdmaOperation with(ByteBuf content) {
        RdmaOperation copy = kept ? again() : into(content);
        // As with any holder, the reference of the caller becomes that of the copy.
        content.release();
        return copy;
    }

    /** Returns a copy that keeps its number. */
    abstract ValueOperation again();

    /** Returns a copy with another buffer for the number. */
    abstract ValueOperation into(ByteBuf result);
}
