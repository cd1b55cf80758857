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
import io.netty.channel.rdma.connection.Liveness;
import io.netty.channel.rdma.connection.LivenessOptions;
import io.netty.channel.rdma.connection.OptionRow;
import io.netty.channel.rdma.connection.QueuePairOptions;
import io.netty.channel.rdma.connection.QueuePairResources;
import io.netty.channel.rdma.loop.CompletionHandler;
import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.LoopReceiveQueue;
import io.netty.channel.rdma.memory.CellByteBuf;
import io.netty.channel.rdma.memory.DeviceContext;
import io.netty.channel.rdma.memory.MemoryRange;
import io.netty.channel.rdma.memory.RegisteredRanges;
import io.netty.channel.rdma.memory.RequestMemory;
import io.netty.channel.rdma.memory.Staging;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.MemoryRegion;
import io.netty.channel.rdma.verbs.PortSpace;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.ReferenceCounted;
import io.netty.util.internal.UnstableApi;

import java.util.concurrent.TimeUnit;

/**
 * The queue pair of a channel that stays on its event loop. Its owner gets the completions there. Also finds registered
 * memory of the process, and the keys of that memory on the device of the queue pair.
 *
 * <p>For the channels of this transport. On the loop.
 */
@UnstableApi
@SuppressWarnings("exports") // for the channels of this module
public final class ChannelQueuePair {
    /** The queue pair has receives of its own. */
    public static final int NOT_SHARED = -1;

    private final QueuePairResources resources;
    private final CompletionHandler owner;
    private final LoopBinding loop;
    private final QueuePair queuePair;

    private ChannelQueuePair(QueuePairResources resources, CompletionHandler owner, LoopBinding loop,
                             QueuePair queuePair) {
        this.resources = resources;
        this.owner = owner;
        this.loop = loop;
        this.queuePair = queuePair;
        loop.onUnexpected(owner::unexpected);
    }

    /**
     * Creates the queue pair.
     *
     * @param id of the queue pair, or {@code null} if it is connected without the connection manager. With {@link
     *         PortSpace#UDP} the queue pair is one of datagrams, whose receives have two elements.
     * @param device that the id is bound to, or one of another id.
     * @param receiveSges the most elements of a receive, or {@code null} for as many as the receives of the channel
     *         need.
     * @param sharedReceiveSize the bytes of each receive that the queue pair shares with others of the loop, or {@link
     *         #NOT_SHARED}.
     */
    public static ChannelQueuePair create(AbstractRdmaChannel channel, ConnectionId id, Device device,
                                          QueuePairOptions options, OptionRow<Integer> sendSges,
                                          OptionRow<Integer> receiveSges, int sharedReceiveSize,
                                          CompletionHandler owner)
            throws Exception {
        DeviceContext context = DeviceContext.of(device);
        Staging.reserve(context);
        QueuePairResources resources = new QueuePairResources(context, options, channel.handler());
        try {
            if (sharedReceiveSize != NOT_SHARED) {
                resources.shareReceives(sharedReceiveSize, () -> receiveBuffer(context, sharedReceiveSize));
            }
            int sges = resources.limit(sendSges, context.attributes.maxSges(), "its max_sge");
            // The header before a datagram goes to memory of its own.
            int ownSges = id != null && id.portSpace() == PortSpace.UDP ? 2 : 1;
            QueuePair queuePair = resources.create(id, sges, receiveSges == null ? ownSges :
                    resources.limit(receiveSges, context.attributes.maxSges(), "its max_sge"), 0);
            ChannelQueuePair result = new ChannelQueuePair(resources, owner, new LoopBinding(channel.handler()),
                    queuePair);
            resources.register(owner);
            return result;
        } catch (Throwable t) {
            resources.closeQueuePair();
            resources.release(null);
            throw t;
        }
    }

    /** Runs the task later, on the loop. The owner gets the exceptions of the task. */
    public void execute(Runnable task) {
        loop.execute(task);
    }

    /**
     * Runs a task on the loop after a number of milliseconds. On the loop.
     *
     * @return cancels it.
     * @throws java.util.concurrent.RejectedExecutionException if the loop has ended.
     */
    public Runnable schedule(Runnable task, long millis) {
        return loop.schedule(task, millis, TimeUnit.MILLISECONDS)::cancel;
    }

    /** Returns an object that finds a peer which does not answer any more, for a connection on this queue pair. */
    public Liveness liveness(Liveness.Connection connection, LivenessOptions options) {
        return new Liveness(loop, connection, options);
    }

    /** See {@link QueuePairResources#limit}. */
    public int limit(OptionRow<Integer> option, int limit, String attribute) {
        return resources.limit(option, limit, attribute);
    }

    public QueuePair queuePair() {
        return queuePair;
    }

    public Device device() {
        return resources.context.device;
    }

    /** The part of the device that all event loops share. */
    public DeviceContext context() {
        return resources.context;
    }

    /** The handler of the event loop. */
    public LoopHandler loop() {
        return loop.handler();
    }

    public int sendDepth() {
        return resources.sendDepth;
    }

    public int receiveDepth() {
        return resources.receiveDepth;
    }

    /**
     * Finds the registered memory that contains bytes of a buffer, or returns {@code null}. The memory is a part of a
     * slab of {@link RdmaByteBufAllocator}, receive memory, or {@link RegisteredMemory}. The caller gets a reference.
     *
     * @param buf has a memory address. The caller asks for the address after this call, when the memory is held.
     * @param written whether the device is going to write there.
     */
    public ReferenceCounted retainedMemory(ByteBuf buf, int index, int length, boolean written) {
        ReferenceCounted memory = RegisteredRanges.retainedFind(buf, index, length);
        return memory != null ? memory : ForeignMemory.retainedFind(buf.memoryAddress() + index, length,
                written ? RdmaPermission.LOCAL_WRITE : null);
    }

    /**
     * Returns whether this device can use the memory.
     *
     * @param memory of {@link #retainedMemory}.
     */
    public boolean isRegistered(ReferenceCounted memory) {
        return range(memory).regionOrNull(resources.context) != null;
    }

    /**
     * The local key of memory on this device.
     *
     * @param memory of {@link #retainedMemory}.
     */
    public int localKey(ReferenceCounted memory) throws VerbsException {
        return range(memory).region(resources.context).lkey();
    }

    private static MemoryRange range(ReferenceCounted memory) {
        return memory instanceof RegisteredMemory ? ((RegisteredMemory) memory).range()
                : ((RequestMemory) memory).range();
    }

    /**
     * The local key of a buffer on this device.
     *
     * @param buf of {@link Staging} or {@link #receiveBuffer}.
     */
    public int localKey(ByteBuf buf) throws VerbsException {
        return localKey(((CellByteBuf) buf).cell());
    }

    /** The region of the memory on this device. The caller has a reference to the memory. */
    public MemoryRegion region(RegisteredMemory memory) throws VerbsException {
        return memory.range().region(resources.context);
    }

    /** The region of the memory on a device that the connection manager shares. As above. */
    public static MemoryRegion region(Device device, RegisteredMemory memory) throws VerbsException {
        return memory.range().region(DeviceContext.of(device));
    }

    /**
     * Returns registered memory to receive into, or {@code null} if there is no more. The buffer can grow after the
     * receive, because handlers append to buffers that they read.
     */
    public ByteBuf receiveBuffer(int length) {
        return receiveBuffer(resources.context, length);
    }

    static ByteBuf receiveBuffer(DeviceContext device, int length) {
        ByteBuf buf = RdmaByteBufAllocator.DEFAULT.newRegisteredBuffer(length, Integer.MAX_VALUE);
        if (buf != null && ((CellByteBuf) buf).cell().range().regionOrNull(device) == null) {
            buf.release();
            return null;
        }
        return buf;
    }

    // ---- shared receives

    /** The shared receive queue of the queue pair, or {@code null}. */
    public LoopReceiveQueue shared() {
        return resources.shared();
    }

    /**
     * Polls all completions and gives them to their owners. If the queue pair is in the error state, nothing more
     * arrives in shared receives after that. The receives that it did not use stay in the shared queue.
     */
    public void drainShared() {
        if (resources.shared() != null) {
            resources.drain();
        }
    }

    /** Destroys the queue pair. After that the device accesses none of the memory, and no completion comes. */
    public void close() {
        resources.closeQueuePair();
        resources.release(owner);
    }
}
