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
 * A 64-bit number that peers get, set and add to while its owner waits for it: a signal without a message. {@linkplain
 * #export Export} it, hand the {@link RemoteMemory} over, and the peer writes {@link RdmaSyncEventGet}, {@link
 * #set(RemoteMemory, long)} and {@link #add(RemoteMemory, long)} to its channel. Any thread.
 *
 * <p>What the owner itself sets and adds is atomic against additions of peers only on a device whose {@code
 * atomicCapability} is {@code GLOBAL} (the embedded provider's is). Elsewhere let only peers change it, or only the
 * owner.
 */
public final class RdmaSyncEvent implements AutoCloseable {
    private static final VarHandle VALUE =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    /** First and maximum pause between two looks of a waiting owner. Nothing tells it of a peer's access. */
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
     * The memory description that the peer of a channel needs to use the event.
     *
     * @throws IOException as {@link RdmaMessageChannel#export}.
     */
    public RemoteMemory export(RdmaMessageChannel channel) throws IOException {
        return channel.export(memory);
    }

    /** The operation that sets the peer's event, to be written to a channel. */
    public static RdmaWrite set(RemoteMemory event, long value) {
        ByteBuf bytes = Unpooled.buffer(Long.BYTES, Long.BYTES);
        return new RdmaWrite(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? bytes.writeLongLE(value)
                : bytes.writeLong(value), event, 0);
    }

    /**
     * The operation that sets the peer's event from a buffer.
     *
     * @param value in the byte order of the hosts: its first 8 readable bytes, or all if there are fewer, which set
     *         only that part. The reference is the operation's.
     */
    public static RdmaWrite set(ByteBuf value, RemoteMemory event) {
        RdmaWrite write = new RdmaWrite(value, checkNotNull(event, "event"), 0);
        write.length(Long.BYTES);
        return write;
    }

    /**
     * The operation that sets the peer's event from registered memory, which may be a peer device's.
     *
     * @param value in the byte order of the hosts: the first 8 bytes, or all if there are fewer, which set only that
     *         part.
     */
    public static RdmaWrite set(List<RegisteredSlice> value, RemoteMemory event) {
        RdmaWrite write = new RdmaWrite(value, checkNotNull(event, "event"), 0);
        write.length(Long.BYTES);
        return write;
    }

    /** The operation that adds to the peer's event, to be written to a channel. */
    public static RdmaFetchAndAdd add(RemoteMemory event, long addend) {
        return new RdmaFetchAndAdd(event, 0, addend);
    }

    /** As above, with the former value in a buffer: see {@link RdmaFetchAndAdd}. */
    public static RdmaFetchAndAdd add(ByteBuf result, RemoteMemory event, long addend) {
        return new RdmaFetchAndAdd(result, event, 0, addend);
    }

    /** As above, with the former value in registered memory: see {@link RdmaFetchAndAdd}. */
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
     * Waits until the value is as wanted: {@code value -> value == expected}, or {@code value -> value != last}. It is
     * looked at now and then, at intervals of 10 microseconds that grow to one millisecond, so a value that does not
     * stay is missed.
     *
     * @param wanted is called by the executor; what it throws ends the waiting.
     * @param executor looks, and tells; usually the event loop of a channel.
     * @return the value that was found. Fails with an {@link IllegalStateException} when the event is closed; cancel it
     *         to wait no longer.
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

    /** Peers can't use it any more. */
    @Override
    public void close() {
        memory.close();
    }
}
