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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * An opened RDMA device ({@code struct ibv_context}).
 * <p>
 * A device that was opened by name belongs to the caller. Other devices belong to the connection manager ({@link
 * ConnectionId#device()}): librdmacm opens each device once per process and never closes it, so {@link #close()} of
 * such a device does nothing. Any thread may call all methods.
 */
@UnstableApi
public final class Device extends VerbsObject {
    // The connection manager's contexts live as long as the process, so there is nothing to remove.
    private static final ConcurrentMap<Long, Device> SHARED = new ConcurrentHashMap<>();

    /** Names of the devices that a provider has had in earlier queries. */
    private static final ConcurrentMap<VerbsProvider, Set<String>> KNOWN = new ConcurrentHashMap<>();

    private final String name;
    private final boolean owned;

    private Device(VerbsApi verbs, long address, boolean owned) {
        super(VerbsResource.DEVICE, verbs, address);
        this.owned = owned;
        name = name0(api(), address);
    }

    /**
     * The names of the devices of {@link VerbsApi#usable()}: first those of {@link VerbsApi#preferred()}, in its order.
     */
    public static List<String> names() throws VerbsException {
        List<String> names = new ArrayList<>(names(VerbsApi.preferred()));
        for (VerbsApi verbs : VerbsApi.usable()) {
            if (verbs != VerbsApi.preferred()) {
                names.addAll(names(verbs));
            }
        }
        return Collections.unmodifiableList(names);
    }

    /** The names of the devices of a provider, in its order. */
    public static List<String> names(VerbsApi verbs) throws VerbsException {
        String[] names = names0(verbs.api());
        if (names == null) {
            return Collections.emptyList();
        }
        return Collections.unmodifiableList(Arrays.asList(names));
    }

    /**
     * Opens a device.
     *
     * @param name one of {@link #names()}.
     */
    public static Device open(String name) throws VerbsException {
        return open(providerOf(name), name);
    }

    /** Returns the provider that has a device of this name; if none has it, the preferred one, whose error says so. */
    private static VerbsApi providerOf(String name) throws VerbsException {
        ObjectUtil.checkNotNull(name, "name");
        if (!isPresent(VerbsApi.preferred(), name)) {
            for (VerbsApi verbs : VerbsApi.usable()) {
                if (isPresent(verbs, name)) {
                    return verbs;
                }
            }
        }
        return VerbsApi.preferred();
    }

    /**
     * Returns whether a provider has, or had in an earlier query, a device of this name. A removed one fails on use.
     */
    public static boolean isPresent(VerbsApi verbs, String name) throws VerbsException {
        Set<String> known = KNOWN.computeIfAbsent(verbs.provider(), provider -> ConcurrentHashMap.newKeySet());
        if (known.contains(name)) {
            return true;
        }
        List<String> names = names(verbs);
        known.addAll(names);
        return names.contains(name);
    }

    /**
     * Opens a device.
     *
     * @param name one of {@link #names(VerbsApi)}.
     */
    public static Device open(VerbsApi verbs, String name) throws VerbsException {
        ObjectUtil.checkNotNull(name, "name");
        return new Device(verbs,
                created(open0(verbs.api(), name), "ibv_open_device", "open RDMA device " + name), true);
    }

    /**
     * Returns the connection manager's object of the device ({@code rdma_get_devices}), which all channels of this
     * process use. Objects that are made from it can be used with those of an id. It stays open.
     *
     * @param name one of {@link #names()}.
     * @throws VerbsException with {@link Errno#ENODEV} if there is no such device.
     */
    public static Device shared(String name) throws VerbsException {
        return shared(providerOf(name), name);
    }

    /**
     * Returns the connection manager's object of a provider's device, which all channels use. It stays open.
     *
     * @param name one of {@link #names(VerbsApi)}.
     * @throws VerbsException with {@link Errno#ENODEV} if there is no such device.
     */
    public static Device shared(VerbsApi verbs, String name) throws VerbsException {
        ObjectUtil.checkNotNull(name, "name");
        return shared(verbs, created(shared0(verbs.api(), name), "rdma_get_devices", "find RDMA device " + name));
    }

    /** Returns the one object for a context that belongs to the connection manager. */
    static Device shared(VerbsApi verbs, long context) {
        return SHARED.computeIfAbsent(context, c -> new Device(verbs, c, false));
    }

    /** The kernel's name of the device, for example {@code mlx5_0} or {@code rxe0}. */
    public String name() {
        return name;
    }

    /**
     * Returns whether the device is an iWARP one. RFC 5040 gives iWARP neither RDMA WRITE with immediate data nor
     * atomics.
     */
    public boolean isIwarp() {
        return isIwarp0(address());
    }

    public DeviceAttributes attributes() throws VerbsException {
        long[] values = new long[DeviceAttributes.COUNT];
        check(attributes0(api(), address(), values), "ibv_query_device", "query RDMA device " + name);
        return new DeviceAttributes(values);
    }

    /**
     * Returns the maximum of {@link QueuePairInitAttributes#maxInlineReceive} in bytes; 0 if it is not supported, as
     * with every device of {@link VerbsProvider#IBVERBS}.
     */
    public int maxInlineReceive() {
        return maxInlineReceive0(api(), address());
    }

    /**
     * Returns the number of this process's messages that found no receive at the peer. Each message counts once.
     *
     * @return -1 with devices of {@link VerbsProvider#IBVERBS}, whose port counters in the kernel count retries, of all
     *         processes.
     */
    public long receiverNotReady() {
        return rnrNaks0(api(), address());
    }

    /**
     * Returns whether {@link ProtectionDomain#registerDmabuf} can work. There is no attribute for it, but devices that
     * can't do it fail before they check the file descriptor.
     */
    public boolean supportsDmabuf() throws VerbsException {
        try (ProtectionDomain domain = allocateProtectionDomain()) {
            domain.registerDmabuf(-1, 0, 4096, 0, AccessFlags.LOCAL_WRITE).close();
            return true;
        } catch (VerbsException e) {
            if (e.errno() == Errno.EBADF) {
                return true;
            }
            if (e.errno() == Errno.EOPNOTSUPP) {
                return false;
            }
            throw e;
        }
    }

    /** {@link VerbsApi#peerMemoryClients()} of this device's provider. */
    public List<String> peerMemoryClients() {
        return verbs().peerMemoryClients();
    }

    /** @param port from 1 to {@link DeviceAttributes#portCount()}. */
    public PortAttributes portAttributes(int port) throws VerbsException {
        ObjectUtil.checkInRange(port, 1, 255, "port");
        int[] values = new int[PortAttributes.COUNT];
        check(portAttributes0(api(), address(), port, values), "ibv_query_port", "query port " + port + " of " + name);
        return new PortAttributes(values);
    }

    /** An entry of a port's table of global identifiers: 16 bytes in network order. */
    public byte[] gid(int port, int index) throws VerbsException {
        byte[] gid = new byte[16];
        check(gid0(api(), address(), port, index, gid), "ibv_query_gid", "query GID " + index + " of " + name);
        return gid;
    }

    /**
     * The entries of a port's table of global identifiers that are in use, in its order.
     *
     * @param port from 1 to {@link DeviceAttributes#portCount()}.
     */
    public List<GidEntry> gids(int port) throws VerbsException {
        int length = portAttributes(port).gidTableLength();
        List<GidEntry> gids = new ArrayList<>();
        int[] typeAndInterface = new int[2];
        for (int index = 0; index < length; index++) {
            byte[] bytes = new byte[16];
            int errno = gidEntry0(api(), address(), port, index, bytes, typeAndInterface);
            if (errno == Errno.ENODATA) {
                continue;
            }
            check(errno, "ibv_query_gid_ex", "query GID " + index + " of " + name);
            gids.add(new GidEntry(index, GidEntry.Type.of(typeAndInterface[0]), typeAndInterface[1], bytes));
        }
        return gids;
    }

    /**
     * An entry of a port's table of partition keys, 0 to 0xFFFF.
     *
     * @param port  from 1 to {@link DeviceAttributes#portCount()}.
     * @param index below {@link PortAttributes#partitionKeyTableLength()}.
     */
    public int partitionKey(int port, int index) throws VerbsException {
        int key = partitionKey0(api(), address(), port, index);
        check(Math.max(0, -key), "ibv_query_pkey", "query partition key " + index + " of " + name);
        return key;
    }

    /** Returns the descriptor that is readable when {@link #nextAsyncEvent()} has an event. The device closes it. */
    public int asyncFd() throws VerbsException {
        int fd = asyncFd0(address());
        if (fd < 0) {
            throw new VerbsException("fcntl", -fd, "make the events of RDMA device " + name + " non-blocking");
        }
        return fd;
    }

    /**
     * Takes the next asynchronous event: an error or a change of the device, of a port or of an object. The event is
     * acknowledged before the return, so it never keeps its object from being closed.
     *
     * @return {@code null} if there is none.
     */
    public AsyncEvent nextAsyncEvent() throws VerbsException {
        asyncFd();
        long[] values = new long[AsyncEvent.COUNT];
        int errno = nextAsyncEvent0(api(), address(), values);
        if (errno == Errno.EAGAIN) {
            return null;
        }
        check(errno, "ibv_get_async_event", "read events of RDMA device " + name);
        return new AsyncEvent(values);
    }

    /** Opens a protection domain. */
    public ProtectionDomain allocateProtectionDomain() throws VerbsException {
        retainAll(this);
        long pd = created(ProtectionDomain.allocate0(api(), address()), "ibv_alloc_pd",
                "allocate a protection domain on " + name, this);
        return new ProtectionDomain(pd, this);
    }

    /** Opens a completion channel: the file descriptor through which completion queues wake up an event loop. */
    public CompletionChannel createCompletionChannel() throws VerbsException {
        retainAll(this);
        long channel = created(CompletionChannel.create0(api(), address()), "ibv_create_comp_channel",
                "create a completion channel on " + name, this);
        return new CompletionChannel(channel, this);
    }

    /**
     * Creates a completion queue.
     *
     * @param capacity minimum number of completions that the queue must hold, 1 to {@link
     *         DeviceAttributes#maxCompletions()}. Overflow is fatal for the queue and its queue pairs, so the capacity
     *         must be at least the sum of their outstanding work requests that may complete.
     * @param channel  wakes the caller up, or {@code null} to poll only.
     */
    public CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel) throws VerbsException {
        return createCompletionQueue(capacity, channel, 1);
    }

    /**
     * Creates a completion queue as {@link #createCompletionQueue(int, CompletionChannel)}.
     *
     * @param mark positive, usually with one bit set: {@link CompletionChannel#consumeEvents} returns it for an event
     *             of this queue.
     */
    public CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel, long mark)
            throws VerbsException {
        ObjectUtil.checkPositive(capacity, "capacity");
        ObjectUtil.checkPositive(mark, "mark");
        VerbsObject[] parents = channel == null ? new VerbsObject[] { this } : new VerbsObject[] { this, channel };
        retainAll(parents);
        long cq = created(CompletionQueue.create0(api(), address(), capacity, channel == null ? 0 : channel.address(),
                mark),
                "ibv_create_cq", "create a completion queue of " + capacity + " entries on " + name, parents);
        return new CompletionQueue(cq, parents);
    }

    /** Closes the device if it was opened with {@link #open(String)}. */
    @Override
    public void close() {
        if (owned) {
            super.close();
        }
    }

    @Override
    int destroy(long address) {
        return close0(api(), address);
    }

    @Override
    public String toString() {
        return "RDMA device " + name;
    }

    private static native String[] names0(long api);

    private static native long open0(long api, String name);

    private static native long shared0(long api, String name);

    private static native int close0(long api, long context);

    private static native String name0(long api, long context);

    private static native boolean isIwarp0(long context);

    private static native int attributes0(long api, long context, long[] values);

    private static native int maxInlineReceive0(long api, long context);

    private static native long rnrNaks0(long api, long context);

    private static native int portAttributes0(long api, long context, int port, int[] values);

    private static native int gid0(long api, long context, int port, int index, byte[] gid);

    /** Returns the key, or a negative errno. */
    private static native int partitionKey0(long api, long context, int port, int index);

    /** Fills the bytes, and {@code enum ibv_gid_type} (or -1) and the index of the network interface. */
    private static native int gidEntry0(long api, long context, int port, int index, byte[] gid,
                                        int[] typeAndInterface);

    private static native int asyncFd0(long context);

    private static native int nextAsyncEvent0(long api, long context, long[] values);
}
