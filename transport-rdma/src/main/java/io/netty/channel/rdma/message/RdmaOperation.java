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

import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

/**
 * An operation that is written to a {@link RdmaMessageChannel}: one work request of its send queue. The promise of the
 * write is done when the request completes. The package description says what that means for each kind.
 *
 * <p>The channel owns the buffer until the promise is done. The application must not change it before.
 *
 * <p>An operation may be written again when its promise is done, so a stream of operations needs no new objects. Before
 * the next write, {@link #length(int)}, the setters of its class, or the indexes of its buffer may change it. While an
 * operation is in flight, a second write fails with an {@link IllegalStateException}, and so do setters. A write takes
 * over a reference, as with any buffer. So {@linkplain #retain() retain} an operation with a buffer before each write
 * but the last. An operation without a buffer needs no references.
 */
public abstract class RdmaOperation extends DefaultByteBufHolder {
    private static final int NOT_DONE = -1;

    /** {@code null} if there is a buffer. */
    private final List<RegisteredSlice> local;
    private final int localLength;
    private int limit = Integer.MAX_VALUE;
    private boolean unsignalled;
    private boolean fenced;
    private Object attachment;
    /** True between the post and the completion. Other threads may see a change late. */
    private boolean inFlight;
    /** The number of bytes of the last completion; less than 0 after the operation was written again. */
    private int moved = NOT_DONE;

    RdmaOperation(ByteBuf data) {
        super(data);
        local = null;
        localLength = 0;
    }

    /** @param local the slices with the bytes, in their order; there is no buffer. */
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
     * The slices with the bytes, in their order; {@link #content()} is then empty. No slices if the operation has a
     * buffer.
     */
    public final List<RegisteredSlice> local() {
        return local == null ? Collections.emptyList() : local;
    }

    final boolean isLocal() {
        return local != null;
    }

    /**
     * Limits the bytes that the operation moves to the first ones of its buffer or slices.
     *
     * @param most 0 or more.
     * @throws IllegalStateException if the operation is in flight.
     */
    public RdmaOperation length(int most) {
        change();
        limit = checkPositiveOrZero(most, "most");
        return this;
    }

    /** Attaches an object of the application, which the operation does not use. {@code null} removes it. */
    public RdmaOperation attachment(Object newAttachment) {
        attachment = newAttachment;
        return this;
    }

    /** The object that the application has attached, or {@code null}. */
    public final Object attachment() {
        return attachment;
    }

    /** Checks that the operation may be changed. Each setter begins with it. */
    final void change() {
        if (inFlight) {
            throw new IllegalStateException(this + " is in flight: it can be changed when its promise is done");
        }
        moved = NOT_DONE;
    }

    final void posted() {
        inFlight = true;
    }

    final void returned() {
        inFlight = false;
    }

    /** The reason why the operation can't be posted now, or {@code null}. */
    final IllegalStateException busy() {
        return inFlight ? new IllegalStateException(this + " is in flight already: it can be written again when its " +
                "promise is done") : null;
    }

    /**
     * Asks for no completion. The promise is done, and the memory given back, with the channel's next operation that
     * has a completion. The promises of the last unsignalled operations wait for such an operation. This saves work of
     * the device and the event loop in streams of small operations.
     */
    public RdmaOperation unsignalled() {
        unsignalled = true;
        return this;
    }

    /**
     * Makes the operation wait until all reads and atomics that were written before are done ({@code IBV_SEND_FENCE}).
     * Otherwise it may overtake their results.
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

    /** The number of bytes that the operation has moved, if its last write has succeeded; else that it would move. */
    public final int length() {
        return moved >= 0 ? moved : requested();
    }

    /** The number of bytes that the operation would move now. */
    int requested() {
        return Math.min(limit, isLocal() ? localLength : bufferLength());
    }

    /** The number of bytes that the buffer has for the operation. */
    int bufferLength() {
        return content().readableBytes();
    }

    /** Begins the work request; its elements are added by the caller. */
    abstract void begin(SendWorkRequests chain, long id, int flags);

    /** The reason why a device would refuse the operation, or {@code null}. */
    RdmaOperationException check() {
        return null;
    }

    /** The index of the operation's first byte in the buffer. */
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

    /** Resets the result of a former write. Called for each write. */
    void written() {
        moved = NOT_DONE;
    }

    /** Sets the result after the device has executed the operation. */
    void completed(int bytes) {
        moved = bytes;
    }

    /** Returns the copy with the same flags. */
    final <T extends RdmaOperation> T flagged(T copy) {
        RdmaOperation other = copy;
        other.unsignalled = unsignalled;
        other.fenced = fenced;
        other.limit = limit;
        other.attachment = attachment;
        return copy;
    }

    /** Returns a copy with the content. If the operation has slices, the copy has them instead. */
    @Override
    public final RdmaOperation replace(ByteBuf content) {
        if (local == null) {
            return flagged(with(content));
        }
        content.release();
        return flagged(withLocal());
    }

    /** Returns a copy with other bytes, whose reference the copy takes over. */
    abstract RdmaOperation with(ByteBuf content);

    /** Returns a copy of an operation that has slices. */
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
