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
package io.netty.channel.rdma.verbs;

import io.netty.util.internal.ObjectUtil;
import io.netty.util.internal.UnstableApi;

import java.nio.ByteBuffer;

/**
 * A protection domain ({@code struct ibv_pd}): queue pairs can only use memory regions of their own domain. Any thread.
 */
@UnstableApi
public final class ProtectionDomain extends VerbsObject {
    private final Device device;

    /** @param device already retained. */
    ProtectionDomain(long address, Device device) {
        super(VerbsResource.PROTECTION_DOMAIN, address, device);
        this.device = device;
    }

    public Device device() {
        return device;
    }

    /**
     * Registers a whole direct buffer, from byte 0 to its capacity; position and limit are ignored. The region keeps
     * the buffer reachable.
     *
     * @param access of {@link AccessFlags}.
     * @throws IllegalArgumentException if the buffer is not direct or empty.
     * @throws VerbsException           with {@link Errno#ENOMEM} if the limit of locked memory is too low.
     */
    public MemoryRegion register(ByteBuffer buffer, int access) throws VerbsException {
        return register(NativeMemory.address(buffer), buffer.capacity(), access, buffer);
    }

    /**
     * Registers a range of memory, which must stay mapped until the region is closed.
     *
     * @param length in bytes, at least 1.
     * @param access of {@link AccessFlags}.
     * @throws VerbsException with {@link Errno#ENOMEM} if the limit of locked memory is too low, {@link Errno#EFAULT}
     *                        if the range is not mapped.
     */
    public MemoryRegion register(long memoryAddress, long length, int access) throws VerbsException {
        return register(memoryAddress, length, access, null);
    }

    /**
     * Registers memory behind a file descriptor: a dma-buf, for example of a graphics processor. This process need not
     * map it. The embedded provider takes a {@code memfd_create(2)} file with {@code F_SEAL_SHRINK} instead. The
     * descriptor may be closed as soon as this returns.
     *
     * @param fd      of the file; the caller keeps it.
     * @param offset  of the first byte in the file, 0 or more.
     * @param length  in bytes, at least 1.
     * @param address the address of the first byte for work requests and peers, any number with the same offset in its
     *         page as {@code offset}. {@link MemoryRegion#memoryAddress()} of the result.
     * @param access  of {@link AccessFlags}.
     * @throws VerbsException with {@link Errno#EOPNOTSUPP} if the device or its library cannot do it,
     *                        {@link Errno#EBADF} or {@link Errno#EINVAL} if it is not such a file or has no such range.
     */
    public MemoryRegion registerDmabuf(int fd, long offset, long length, long address, int access)
            throws VerbsException {
        ObjectUtil.checkPositiveOrZero(offset, "offset");
        ObjectUtil.checkPositive(length, "length");
        retainAll(this);
        long mr = created(MemoryRegion.registerDmabuf0(api(), address(), offset, length, address, fd, access),
                "ibv_reg_dmabuf_mr", "register " + length + " bytes at " + offset + " of file descriptor " + fd +
                " with " + device.name(), this);
        return new MemoryRegion(mr, this, address, length, access, null);
    }

    /**
     * Registers memory of a graphics processor of NVIDIA, and sets {@code CU_POINTER_ATTRIBUTE_SYNC_MEMOPS} on it. The
     * memory must stay allocated until the region is closed.
     *
     * @param memoryAddress of the first byte, as the graphics processor addresses it.
     * @param length        in bytes, at least 1.
     * @param access        of {@link AccessFlags}.
     * @param dmabuf        whether to try the dma-buf of the memory before its address.
     * @throws VerbsException with {@link Errno#ENODEV} if this process has not loaded CUDA's driver library, {@link
     *                        Errno#EFAULT} if there is no such memory, or if the device registers it in neither way.
     */
    public MemoryRegion registerCuda(long memoryAddress, long length, int access, boolean dmabuf)
            throws VerbsException {
        ObjectUtil.checkPositive(length, "length");
        retainAll(this);
        long mr = created(MemoryRegion.registerCuda0(api(), address(), memoryAddress, length, access, dmabuf),
                "ibv_reg_mr", () -> "register " + length + " bytes of CUDA memory at 0x" +
                Long.toHexString(memoryAddress) + " with " + device.name() +
                (dmabuf ? " as a dma-buf or by address" : " by address"), this);
        return new MemoryRegion(mr, this, memoryAddress, length, access, null);
    }

    private MemoryRegion register(long memoryAddress, long length, int access, Object memory) throws VerbsException {
        ObjectUtil.checkPositive(length, "length");
        retainAll(this);
        long mr = created(MemoryRegion.register0(api(), address(), memoryAddress, length, access), "ibv_reg_mr",
                () -> "register " + length + " bytes with " + device.name(), this);
        return new MemoryRegion(mr, this, memoryAddress, length, access, memory);
    }

    /**
     * Allocates a memory window of type 2, which is not bound to anything.
     *
     * @throws VerbsException with {@link Errno#EOPNOTSUPP} or {@link Errno#ENOSYS} if the device has none,
     *                        {@link Errno#ENOMEM} beyond {@link DeviceAttributes#maxMemoryWindows()}.
     */
    public MemoryWindow allocateMemoryWindow() throws VerbsException {
        retainAll(this);
        long mw = created(MemoryWindow.allocate0(address()), "ibv_alloc_mw",
                () -> "allocate a memory window of type 2 on " + device.name(), this);
        return new MemoryWindow(mw, this);
    }

    /**
     * Creates a queue pair that is connected without the connection manager, in the state {@link QueuePairState#RESET}.
     */
    public QueuePair createQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
        VerbsObject[] parents = attributes.parents(this);
        retainAll(parents);
        int[] values = attributes.values();
        long qp = created(QueuePair.create0(api(), address(), attributes.sendQueue.address(),
                attributes.receiveQueue.address(), attributes.sharedReceiveQueueAddress(), values),
                "ibv_create_qp", () -> attributes.describe(device), parents);
        return new QueuePair(qp, values, null, parents);
    }

    /**
     * Creates a handle for sending datagrams.
     *
     * @throws VerbsException with {@link Errno#EINVAL} if the local port or the entry of its table of global
     *                        identifiers does not exist.
     */
    public AddressHandle createAddressHandle(AddressVector vector) throws VerbsException {
        ObjectUtil.checkNotNull(vector, "vector");
        retainAll(this);
        long ah = created(AddressHandle.create0(api(), address(), vector.values, vector.gid), "ibv_create_ah",
                "create an address handle for " + vector + " on " + device.name(), this);
        return new AddressHandle(ah, this);
    }

    /**
     * Creates a handle for answering a datagram, whose sender is then
     * {@link WorkCompletions#sourceQueuePairNumber(int)} at this handle.
     *
     * @param completions   the batch with the completion of the datagram.
     * @param index         the index of the completion.
     * @param memoryAddress of the datagram's memory, that is of its
     *                      {@link WorkCompletions#GLOBAL_HEADER_LENGTH} first bytes.
     * @param localPort     the port that received the datagram, from 1.
     * @throws VerbsException with {@link Errno#EINVAL} if the datagram was for a group, on some devices.
     */
    public AddressHandle createAddressHandle(WorkCompletions completions, int index, long memoryAddress, int localPort)
            throws VerbsException {
        ObjectUtil.checkInRange(localPort, 1, 255, "localPort");
        long completion = completions.address(index);
        retainAll(this);
        long ah = created(AddressHandle.createFromCompletion0(api(), address(), completion, memoryAddress, localPort),
                "ibv_create_ah_from_wc", "create an address handle for the sender of a datagram on " + device.name(),
                this);
        return new AddressHandle(ah, this);
    }

    /**
     * Creates a queue of receives that queue pairs can share.
     *
     * @param maxRequests maximum number of receives in the queue, at least 1.
     * @param maxSges     maximum number of elements of a receive, 0 or more.
     * @throws VerbsException with {@link Errno#EINVAL} beyond the limits of {@link DeviceAttributes}, with
     *                        {@link Errno#EOPNOTSUPP} or {@link Errno#ENOSYS} if the device has no such queues.
     */
    public SharedReceiveQueue createSharedReceiveQueue(int maxRequests, int maxSges) throws VerbsException {
        int[] values = {
                ObjectUtil.checkPositive(maxRequests, "maxRequests"),
                ObjectUtil.checkPositiveOrZero(maxSges, "maxSges"), 0
        };
        retainAll(this);
        long srq = created(SharedReceiveQueue.create0(api(), address(), values), "ibv_create_srq",
                "create a shared receive queue of " + maxRequests + " receives of " + maxSges + " elements on " +
                device.name(), this);
        return new SharedReceiveQueue(srq, values, this);
    }

    @Override
    int destroy(long address) {
        return deallocate0(api(), address);
    }

    static native long allocate0(long api, long context);

    private static native int deallocate0(long api, long pd);
}
