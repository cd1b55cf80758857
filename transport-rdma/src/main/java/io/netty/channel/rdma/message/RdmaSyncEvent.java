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
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;

import static io.netty.util.internal.ObjectUtil.checkNotNull;

/**
 * A 64-bit number that peers get, set and add to while its owner waits for a value: a signal without a message. The
 * owner {@linkplain #export exports} it and sends the {@link RemoteMemory} to the peer. The peer writes {@link
 * RdmaSyncEventGet}, {@link #set(RemoteMemory, long)} and {@link #add(RemoteMemory, long)} to its channel. Any thread.
 *
 * <p>The owner's {@link #set(long)} and {@link #add(long)} are atomic against additions of peers only if the device's
 * {@code atomicCapability} is {@code GLOBAL}, as the embedded provider's is. Elsewhere let only peers change the
 * number, or only the owner.
 */
public final class RdmaSyncEvent implements AutoCloseable {
    private static final VarHandle VALUE =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    /** First and maximum pause between two reads of a waiting owner, which is not told of a peer's access. */
    private static final long MIN_PAUSE_NANOS = 10_000;
    private static final long MAX_PAUSE_NANOS = 1_000_000;

    private final RegisteredMemory memory;
    private final ByteBuffer buffer;

    /** @throws IOException if there is no registered memory for it. */
    public RdmaSyncEvent(long initial) throws IOException {
        // Cells of the allocator are aligned.
        memory = RegisteredMemory.allocate(Long.BYTES, EnumSet.allOf(RdmaPermission.class));
        buffer = memory.buf().nioBuffer(0, Long.BYTES);
        set(initial);
    }

    /**
     * Returns the description of the memory, with which the peer of a channel can use the event.
     *
     * @throws IOException as {@link RdmaMessageChannel#export}.
     */
    public RemoteMemory export(RdmaMessageChannel channel) throws IOException {
        return channel.export(memory);
    }

    /** Returns an operation that sets the peer's event, to be written to a channel. */
    public static RdmaWrite set(RemoteMemory event, long value) {
        ByteBuf bytes = Unpooled.buffer(Long.BYTES, Long.BYTES);
        return new RdmaWrite(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? bytes.writeLongLE(value)
                : bytes.writeLong(value), event, 0);
    }

    /**
     * Returns an operation that sets the peer's event from a buffer.
     *
     * @param value its first 8 readable bytes, in the byte order of the hosts. Fewer bytes set only that part. The
     *         operation takes over the reference.
     */
    public static RdmaWrite set(ByteBuf value, RemoteMemory event) {
        RdmaWrite write = new RdmaWrite(value, checkNotNull(event, "event"), 0);
        write.length(Long.BYTES);
        return write;
    }

    /**
     * Returns an operation that sets the peer's event from registered memory, which may be a peer device's.
     *
     * @param value the first 8 bytes, in the byte order of the hosts. Fewer bytes set only that part.
     */
    public static RdmaWrite set(List<RegisteredSlice> value, RemoteMemory event) {
        RdmaWrite write = new RdmaWrite(value, checkNotNull(event, "event"), 0);
        write.length(Long.BYTES);
        return write;
    }

    /** Returns an operation that adds to the peer's event, to be written to a channel. */
    public static RdmaFetchAndAdd add(RemoteMemory event, long addend) {
        return new RdmaFetchAndAdd(event, 0, addend);
    }

    /** Returns an operation that adds, and puts the former value in a buffer: see {@link RdmaFetchAndAdd}. */
    public static RdmaFetchAndAdd add(ByteBuf result, RemoteMemory event, long addend) {
        return new RdmaFetchAndAdd(result, event, 0, addend);
    }

    /** Returns an operation that adds, and puts the former value in registered memory: see {@link RdmaFetchAndAdd}. */
    public static RdmaFetchAndAdd add(RegisteredSlice result, RemoteMemory event, long addend) {
        return new RdmaFetchAndAdd(result, event, 0, addend);
    }

    /**
     * The value.
     *
     * @throws IllegalStateException if the event is closed.
     */
    public long get() {
        return (long) VALUE.getVolatile(open(), 0);
    }

    /**
     * Sets the value.
     *
     * @throws IllegalStateException if the event is closed.
     */
    public void set(long value) {
        VALUE.setVolatile(open(), 0, value);
    }

    /**
     * Adds to the value, and returns what it was before.
     *
     * @throws IllegalStateException if the event is closed.
     */
    public long add(long addend) {
        return (long) VALUE.getAndAdd(open(), 0, addend);
    }

    private ByteBuffer open() {
        if (!memory.isOpen()) {
            throw new IllegalStateException("the sync event is closed");
        }
        return buffer;
    }

    /** Waits until the value is no less than this one: see {@link #waitUntil(LongPredicate, EventExecutor)}. */
    public Future<Long> waitUntil(long least, EventExecutor executor) {
        return waitUntil(value -> value >= least, executor);
    }

    /**
     * Waits until the value is as wanted, for example {@code value -> value == expected} or {@code value -> value !=
     * last}. The executor reads it at intervals of 10 microseconds that grow to one millisecond, so it misses a value
     * that does not stay.
     *
     * @param wanted is called by the executor; an exception of it fails the future.
     * @param executor reads the value and notifies the future; usually the event loop of a channel.
     * @return the value that was found. Fails with an {@link IllegalStateException} when the event is closed. Cancel
     *         the future to stop waiting.
     */
    public Future<Long> waitUntil(LongPredicate wanted, EventExecutor executor) {
        Promise<Long> promise = executor.newPromise();
        executor.execute(() -> look(wanted, executor, promise, MIN_PAUSE_NANOS));
        return promise;
    }

    private void look(LongPredicate wanted, EventExecutor executor, Promise<Long> promise, long pauseNanos) {
        if (promise.isDone()) {
            return;
        }
        try {
            long value = get();
            if (wanted.test(value)) {
                promise.trySuccess(value);
            } else {
                executor.schedule(() -> look(wanted, executor, promise, Math.min(pauseNanos * 2, MAX_PAUSE_NANOS)),
                        pauseNanos, TimeUnit.NANOSECONDS);
            }
        } catch (Throwable t) {
            promise.tryFailure(t);
        }
    }

    /** Closes the memory, so that peers can't use the event any more. */
    @Override
    public void close() {
        memory.close();
    }
}
