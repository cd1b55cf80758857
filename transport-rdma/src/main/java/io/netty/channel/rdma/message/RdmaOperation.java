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
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.verbs.SendWorkRequests;
import io.netty.util.internal.StringUtil;

import java.util.Collections;
import java.util.List;

/**
 * An operation that is written to a {@link RdmaMessageChannel}: one work request of its send queue. The promise of the
 * write is its completion, see the package description for what that means for each kind.
 *
 * <p>The buffer is the channel's until the promise is done: it must not be changed before.
 */
public abstract class RdmaOperation extends DefaultByteBufHolder {
    /** {@code null} if there is a buffer. */
    private final List<RegisteredSlice> local;
    private final int localLength;
    private boolean unsignalled;
    private boolean fenced;

    RdmaOperation(ByteBuf data) {
        super(data);
        local = null;
        localLength = 0;
    }

    /** @param local where the bytes are, one slice after the other; there is no buffer. */
    RdmaOperation(List<RegisteredSlice> local) {
        super(Unpooled.EMPTY_BUFFER);
        this.local = List.copyOf(local);
        long length = 0;
        for (RegisteredSlice slice : this.local) {
            length += slice.length();
        }
        if (length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("local: " + length + " bytes (expected: at most " + Integer.MAX_VALUE +
                    ')');
        }
        localLength = (int) length;
    }

    /**
     * Where the bytes are if they are in no buffer, one slice after the other: then {@link #content()} is empty. Of an
     * operation with a buffer there are none.
     */
    public final List<RegisteredSlice> local() {
        return local == null ? Collections.emptyList() : local;
    }

    final boolean isLocal() {
        return local != null;
    }

    final int localLength() {
        return localLength;
    }

    /**
     * Asks for no completion of its own. The promise is done, and the memory given back, with the next operation of
     * the channel that has one. So nothing tells about the last of them until there is one. For streams of small
     * operations, each of whose completions would cost the device and the event loop something.
     */
    public RdmaOperation unsignalled() {
        unsignalled = true;
        return this;
    }

    /**
     * Has the operation wait until all reads and atomics that were written before are done ({@code
     * IBV_SEND_FENCE}): without it, it may overtake their results.
     */
    public RdmaOperation fenced() {
        fenced = true;
        return this;
    }

    public final boolean isUnsignalled() {
        return unsignalled;
    }

    public final boolean isFenced() {
        return fenced;
    }

    /** Number of bytes that the operation moves. */
    public int length() {
        return local != null ? localLength : content().readableBytes();
    }

    /** Begins the work request; its elements are added by the caller. */
    abstract void begin(SendWorkRequests chain, long id, int flags);

    /** Why the operation can't be right, or {@code null}. */
    RdmaOperationException check() {
        return null;
    }

    /** The index of its first byte in the buffer. */
    int index() {
        return content().readerIndex();
    }

    /** The kind by which the operation is counted. */
    RdmaMessageMetrics.Kind kind() {
        return RdmaMessageMetrics.Kind.SEND;
    }

    /** Returns whether the device writes to the buffer. */
    final boolean isRead() {
        return kind() == RdmaMessageMetrics.Kind.READ || kind() == RdmaMessageMetrics.Kind.ATOMIC;
    }

    /** The device has done it. */
    void completed(int bytes) {
        // Nothing to be said about it.
    }

    /** Returns the copy with the same flags. */
    final <T extends RdmaOperation> T flagged(T copy) {
        RdmaOperation other = copy;
        other.unsignalled = unsignalled;
        other.fenced = fenced;
        return copy;
    }

    /** One without a buffer does not get one by this. */
    @Override
    public final RdmaOperation replace(ByteBuf content) {
        if (local == null) {
            return flagged(with(content));
        }
        content.release();
        return flagged(withLocal());
    }

    /** The same operation with other bytes, whose reference is the operation's. */
    abstract RdmaOperation with(ByteBuf content);

    /** The same operation once more, if it can be without a buffer. */
    RdmaOperation withLocal() {
        throw new IllegalStateException(this + " has a buffer");
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }

    @Override
    public String toString() {
        return StringUtil.simpleClassName(this) + (refCnt() > 0 ? " of " + length() + " bytes" : " (released)");
    }
}
