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
 * write is its completion, see the package description for what that means for each kind.
 *
 * <p>The buffer is the channel's until the promise is done: it must not be changed before.
 *
 * <p>An operation may be written again when its promise is done, also after {@link #length(int)} and the setters of its
 * class have changed it, or the indexes of its buffer have been set; so a stream of operations needs no new objects. It
 * is in flight once at a time: a second write meanwhile fails with an {@link IllegalStateException}, and so do setters.
 * A write takes over a reference, as that of any buffer does, so an operation with a buffer is {@linkplain #retain()
 * retained} before each write but the last. One without a buffer needs none.
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
    /** Between the post and the completion. Only a help for other threads, which may see a change late. */
    private boolean inFlight;
    /** Number of bytes of the last completion; less than 0 since the operation was written again. */
    private int moved = NOT_DONE;

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

    /**
     * Limits the bytes that the operation moves: the first ones of its buffer or slices, or all if there are fewer.
     *
     * @param most 0 or more.
     * @throws IllegalStateException if the operation is in flight.
     */
    public RdmaOperation length(int most) {
        change();
        limit = checkPositiveOrZero(most, "most");
        return this;
    }

    /** Keeps an object of the application with the operation, which does not use it. {@code null} removes it. */
    public RdmaOperation attachment(Object newAttachment) {
        attachment = newAttachment;
        return this;
    }

    /** The object that the application keeps with the operation, or {@code null}. */
    public final Object attachment() {
        return attachment;
    }

    /** Begins every setter of what is posted. */
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

    /** Why it can't be posted now, or {@code null}. */
    final IllegalStateException busy() {
        return inFlight ? new IllegalStateException(this + " is in flight already: it can be written again when its " +
                "promise is done") : null;
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

    /** Number of bytes that the operation has moved, if the last write of it has succeeded; else that it would move. */
    public final int length() {
        return moved >= 0 ? moved : requested();
    }

    /** Number of bytes that the operation would move now. */
    int requested() {
        return Math.min(limit, isLocal() ? localLength : bufferLength());
    }

    /** Number of bytes that the buffer has for it. */
    int bufferLength() {
        return content().readableBytes();
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

    /** The application writes it, perhaps once more. */
    void written() {
        moved = NOT_DONE;
    }

    /** The device has done it. */
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
