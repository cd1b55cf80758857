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
import io.netty.channel.rdma.verbs.WorkCompletionStatus;

import java.nio.ByteOrder;

/**
 * An operation on 8 bytes of the peer's memory that yields what was there: a number in the byte order of the hosts,
 * which must be the same for both.
 */
abstract class ValueOperation extends RemoteOperation {
    private volatile long value;
    private volatile boolean done;

    ValueOperation(RemoteMemory remote, long offset, RdmaPermission needed) {
        super(Unpooled.buffer(Long.BYTES, Long.BYTES), remote, offset, needed);
    }

    /** Not every device has atomic operations. */
    @Override
    RdmaMessageMetrics.Kind kind() {
        return RdmaMessageMetrics.Kind.ATOMIC;
    }

    @Override
    public final int length() {
        return Long.BYTES;
    }

    @Override
    final int index() {
        return 0;
    }

    @Override
    final void completed(int bytes) {
        value = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? content().getLongLE(0) : content().getLong(0);
        done = true;
    }

    /** The former value of the memory, once the promise of the write has succeeded. */
    final long result() {
        if (!done) {
            throw new IllegalStateException(this + " is not done, or has failed");
        }
        return value;
    }

    /** Checks what a device checks: an atomic operation is of 8 aligned bytes (IBA vol. 1, 9.4.5). */
    @Override
    final RdmaOperationException check() {
        RdmaOperationException inherited = super.check();
        if (inherited == null && kind() == RdmaMessageMetrics.Kind.ATOMIC && address() % Long.BYTES != 0) {
            return new RdmaOperationException(this, WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                    "offset " + offset() + " in the " + remote() + " is no multiple of 8 in its owner's memory");
        }
        return inherited;
    }

    /** The result has a place of its own: the buffer is not replaced. */
    @Override
    final RdmaOperation with(ByteBuf content) {
        content.release();
        return again();
    }

    /** The same operation once more. */
    abstract ValueOperation again();
}
