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
package io.netty.channel.rdma;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.memory.DirectMemory;
import io.netty.channel.rdma.memory.MemoryRange;
import io.netty.channel.rdma.memory.PinnedMemory;
import io.netty.channel.rdma.memory.RegisteredRanges;
import io.netty.channel.rdma.memory.RequestMemory;
import io.netty.channel.rdma.verbs.AccessFlags;
import io.netty.channel.rdma.verbs.MemoryRegion;
import io.netty.channel.rdma.verbs.ProtectionDomain;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.util.AbstractReferenceCounted;
import io.netty.util.ReferenceCounted;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Function;

import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

/**
 * Memory that is registered with the RDMA devices by itself. Peers can be given access to it, and buffers of another
 * allocator are sent, and read into, in place. Every device of a connection that uses the memory registers it at its
 * first use there.
 *
 * <p>The object is reference counted: the owner has one reference, which {@link #close()} gives back, and every
 * operation in flight has one. The registrations end with the last reference, and a peer's access fails from then on.
 * The memory itself lives as long as the buffer does. Any thread.
 */
public final class RegisteredMemory extends AbstractReferenceCounted implements AutoCloseable {
    private final ByteBuf buf;
    private final Set<RdmaPermission> permissions;
    private final MemoryRange range;
    /** Memory that contains this memory and was registered before for another purpose; or {@code null}. */
    private final RequestMemory pinned;
    private final boolean counted;

    private RegisteredMemory(ByteBuf buf, Set<RdmaPermission> permissions, RequestMemory pinned) {
        this.buf = buf;
        this.permissions = permissions;
        this.pinned = pinned;
        counted = pinned == null;
        range = new MemoryRange(buf.memoryAddress(), buf.capacity(), access(permissions), this);
    }

    private RegisteredMemory(Set<RdmaPermission> permissions, Function<RegisteredMemory, MemoryRange> range) {
        buf = Unpooled.EMPTY_BUFFER;
        this.permissions = permissions;
        pinned = null;
        counted = false;
        this.range = range.apply(this);
    }

    /**
     * Allocates and registers memory of {@link RdmaByteBufAllocator#DEFAULT}, at a multiple of 64.
     *
     * @param length in bytes, at least 1.
     * @throws IOException as {@link #of(ByteBuf, Set)}.
     */
    public static RegisteredMemory allocate(int length, Set<RdmaPermission> permissions) throws IOException {
        checkPositive(length, "length");
        ByteBuf buf = aligned(length);
        try {
            return of(buf.setZero(0, length), permissions);
        } finally {
            buf.release();
        }
    }

    private static ByteBuf aligned(int length) {
        ByteBuf buf = RdmaByteBufAllocator.DEFAULT.directBuffer(length, length);
        if (!buf.hasMemoryAddress() || buf.memoryAddress() % DirectMemory.CACHE_LINE == 0) {
            return buf;
        }
        // The buffer is too long for slabs, so it may not be aligned.
        buf.release();
        buf = RdmaByteBufAllocator.DEFAULT.directBuffer(Math.addExact(length, DirectMemory.CACHE_LINE - 1));
        return buf.slice((int) (-buf.memoryAddress() & DirectMemory.CACHE_LINE - 1), length);
    }

    /**
     * Registers the memory between position and limit of a direct buffer.
     *
     * @throws IOException as {@link #of(ByteBuf, Set)}.
     */
    public static RegisteredMemory of(ByteBuffer buffer, Set<RdmaPermission> permissions) throws IOException {
        ByteBuf buf = Unpooled.wrappedBuffer(buffer);
        try {
            return of(buf, permissions);
        } finally {
            buf.release();
        }
    }

    /**
     * Registers the memory of a buffer, from its byte 0 to its capacity.
     *
     * @param buf direct, and in one piece. Retained until the last reference is released. Its capacity must not be
     *         changed meanwhile.
     * @param permissions {@link RdmaPermission#REMOTE_WRITE} and {@link RdmaPermission#REMOTE_ATOMIC} only together
     *         with {@link RdmaPermission#LOCAL_WRITE}.
     * @throws IOException if {@code io.netty.rdma.maxPinnedMemory} does not allow more registered memory.
     * @throws IllegalArgumentException if the buffer or the permissions are not as said.
     */
    public static RegisteredMemory of(ByteBuf buf, Set<RdmaPermission> permissions) throws IOException {
        if (!buf.hasMemoryAddress() || buf.capacity() == 0) {
            throw new IllegalArgumentException("buf: " + buf + " (expected: direct, in one piece, not empty)");
        }
        Set<RdmaPermission> copy = checked(permissions);
        RequestMemory pinned = RegisteredRanges.retainedFind(buf, 0, buf.capacity());
        if (pinned == null && !PinnedMemory.PROCESS.reserve(buf.capacity(), true)) {
            throw new IOException("no more registered memory: raise -Dio.netty.rdma.maxPinnedMemory (" +
                    PinnedMemory.PROCESS.used() + " of at most " + PinnedMemory.PROCESS.max() + " bytes are in use, " +
                    buf.capacity() + " are wanted)");
        }
        RegisteredMemory memory = new RegisteredMemory(buf.retain(), copy, pinned);
        if (pinned == null) {
            ForeignMemory.add(memory);
        }
        return memory;
    }

    /**
     * Registers memory behind a file descriptor, for example a dma-buf of a graphics processor. The CPU need not be
     * able to access it, so there is no {@linkplain #buf() buffer}, and operations take a {@link #slice}. It does not
     * count as pinned memory. With the embedded provider the file is a {@code memfd_create(2)} with {@code
     * F_SEAL_SHRINK}, or belongs to a device that has a client (docs/peer-memory.md).
     *
     * <p>A device registers it when it is first used there, or {@linkplain
     * io.netty.channel.rdma.message.RdmaMessageChannel#export exported}. The use fails with a {@link VerbsException} if
     * the device can't register dma-bufs ({@link io.netty.channel.rdma.message.RdmaCapabilities#supportsDmabuf()}), or
     * if the file is of another kind or has no such range.
     *
     * @param fd must stay open as long as devices may still use the memory for the first time.
     * @param offset of the first byte in the file, 0 or more. On some devices it must be a multiple of the page size.
     * @param length in bytes, at least 1.
     * @param permissions as for {@link #of(ByteBuf, Set)}.
     * @throws IllegalArgumentException if the range or the permissions are not as said.
     */
    public static RegisteredMemory ofDmabuf(int fd, long offset, long length, Set<RdmaPermission> permissions) {
        checkPositiveOrZero(fd, "fd");
        checkRange(offset, "offset", length);
        Set<RdmaPermission> copy = checked(permissions);
        // The address may be any that has the same offset in its page as the file's. The kernel allows no memory
        // windows on it (UVERBS_METHOD_REG_DMABUF_MR knows no IB_ACCESS_MW_BIND).
        return new RegisteredMemory(copy, memory -> new MemoryRange(offset, length, RdmaPermission.accessFlags(copy),
                memory) {
            @Override
            public MemoryRegion register(ProtectionDomain domain, int accessFlags) throws VerbsException {
                return domain.registerDmabuf(fd, offset, length, offset, accessFlags);
            }
        });
    }

    /**
     * Registers a range of addresses. It is memory of a graphics processor that is mapped for devices alone
     * (PeerDirect, GPUDirect RDMA), or memory that has no {@link ByteBuf}, such as a mapping of 2 GiB or more. The
     * transport never reads or writes it by the CPU, so there is no {@linkplain #buf() buffer}: operations take a
     * {@link #slice}, which is never copied into the work request. It does not count as pinned memory.
     *
     * <p>A device registers it when it is first used there, or {@linkplain
     * io.netty.channel.rdma.message.RdmaMessageChannel#export exported}. The use fails with the {@link VerbsException}
     * "Bad address" if nothing is mapped there, or if the memory is of another device whose driver does not support
     * {@code ibv_reg_mr(3)}. (The needs of drivers, and of the embedded provider, are in docs/peer-memory.md.)
     *
     * <p>Unmapping or freeing the memory before the last reference to this object is released is an error of the
     * application. Operations on it then fail, here or at the peer, with a status of the device, or use the pages
     * that the device had pinned; their connection may end.
     *
     * @param address of the first byte, positive.
     * @param length in bytes, at least 1.
     * @param permissions as for {@link #of(ByteBuf, Set)}.
     * @throws IllegalArgumentException if the range or the permissions are not as said.
     */
    public static RegisteredMemory ofAddress(long address, long length, Set<RdmaPermission> permissions) {
        checkPositive(address, "address");
        checkRange(address, "address", length);
        Set<RdmaPermission> copy = checked(permissions);
        return new RegisteredMemory(copy, memory -> new MemoryRange(address, length, access(copy), memory));
    }

    /**
     * Registers memory of a graphics processor of NVIDIA as a dma-buf if the device takes one, else by its address. The
     * embedded provider registers it by its address. The process has loaded CUDA's driver library and allocated the
     * memory. {@code CU_POINTER_ATTRIBUTE_SYNC_MEMOPS} is set on it, so that copies of the application are done when
     * their functions return. Kernels and asynchronous copies are not, so wait for them before the memory is sent.
     * Otherwise the rules of {@link #ofAddress} apply.
     *
     * <p>A device registers it when it is first used there, or {@linkplain
     * io.netty.channel.rdma.message.RdmaMessageChannel#export exported}. The use fails with a {@link VerbsException}:
     * "No such device" if the process has not loaded CUDA, "Bad address" if the memory is not of the graphics
     * processor, or if the drivers can register it in neither way ({@link
     * io.netty.channel.rdma.message.RdmaCapabilities#peerMemoryClients()}, docs/peer-memory.md).
     *
     * @param pointer a {@code CUdeviceptr}, positive.
     * @param length in bytes, at least 1.
     * @param permissions as for {@link #of(ByteBuf, Set)}. Atomic operations may be refused by the device.
     * @throws IllegalArgumentException if the range or the permissions are not as said.
     */
    public static RegisteredMemory ofCuda(long pointer, long length, Set<RdmaPermission> permissions) {
        checkPositive(pointer, "pointer");
        checkRange(pointer, "pointer", length);
        Set<RdmaPermission> copy = checked(permissions);
        return new RegisteredMemory(copy, memory -> new MemoryRange(pointer, length,
                RdmaPermission.accessFlags(copy), memory) {
            @Override
            public MemoryRegion register(ProtectionDomain domain, int accessFlags) throws VerbsException {
                return domain.registerCuda(pointer, length, accessFlags,
                        domain.verbs().provider() == VerbsProvider.IBVERBS);
            }
        });
    }

    /** A memory window opens nothing unless this process binds it, so all memory may have windows. */
    private static int access(Set<RdmaPermission> permissions) {
        return RdmaPermission.accessFlags(permissions) | AccessFlags.MEMORY_WINDOW_BIND;
    }

    private static void checkRange(long start, String name, long length) {
        checkPositiveOrZero(start, name);
        checkPositive(length, "length");
        if (length > Long.MAX_VALUE - start) {
            throw new IllegalArgumentException("length: " + length + " (expected: 1 to " + (Long.MAX_VALUE - start) +
                    ')');
        }
    }

    private static Set<RdmaPermission> checked(Set<RdmaPermission> permissions) {
        EnumSet<RdmaPermission> copy = EnumSet.noneOf(RdmaPermission.class);
        copy.addAll(permissions);
        if ((copy.contains(RdmaPermission.REMOTE_WRITE) || copy.contains(RdmaPermission.REMOTE_ATOMIC)) &&
                !copy.contains(RdmaPermission.LOCAL_WRITE)) {
            throw new IllegalArgumentException("permissions: " + copy + " (expected: LOCAL_WRITE, too)");
        }
        return Collections.unmodifiableSet(copy);
    }

    MemoryRange range() {
        return range;
    }

    /**
     * The memory as a buffer. It belongs to this object, so retain a buffer that is to outlive it. It is empty for
     * {@link #ofDmabuf}, {@link #ofAddress} and {@link #ofCuda}, because the CPU need not be able to access the memory.
     */
    public ByteBuf buf() {
        return buf;
    }

    /**
     * A part of the memory, for an operation.
     *
     * @throws IndexOutOfBoundsException if that is not inside.
     */
    public RegisteredSlice slice(long offset, int length) {
        return new RegisteredSlice(this, offset, length);
    }

    /** The address of the first byte, as peers and devices name it. */
    public long address() {
        return range.address;
    }

    /** The length in bytes. */
    public long length() {
        return range.length;
    }

    /** The permissions, unmodifiable. */
    public Set<RdmaPermission> permissions() {
        return permissions;
    }

    /** Returns whether the owner has not called {@link #close()} yet, or operations are in flight. */
    public boolean isOpen() {
        return refCnt() > 0;
    }

    /** Gives the reference of the owner back: the same as {@link #release()}. */
    @Override
    public void close() {
        release();
    }

    @Override
    protected void deallocate() {
        if (counted) {
            ForeignMemory.remove(this);
        }
        range.close();
        if (counted) {
            PinnedMemory.PROCESS.release(range.length);
        }
        if (pinned != null) {
            pinned.release();
        }
        buf.release();
    }

    @Override
    public ReferenceCounted touch(Object hint) {
        buf.touch(hint);
        return this;
    }

    @Override
    public String toString() {
        return "registered memory of " + length() + " bytes with " + permissions;
    }
}
