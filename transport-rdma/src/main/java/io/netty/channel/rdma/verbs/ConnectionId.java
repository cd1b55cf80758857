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

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A connection, or a listener, of the RDMA connection manager ({@code struct rdma_cm_id}). The counterpart of a socket.
 * <p>
 * Every operation is asynchronous: its result is a {@link ConnectionEvent} of the {@link EventChannel}. Used by one
 * thread at a time, normally the one that reads the events.
 */
@UnstableApi
public final class ConnectionId extends VerbsObject {
    /*
     * Events find their object by a number in rdma_cm_id->context, which is never used again. An address may be used
     * again, and an event that was read before the id was closed must not reach the next id at the same address.
     */
    private static final ConcurrentMap<Long, ConnectionId> BY_TOKEN = new ConcurrentHashMap<>();
    private static final AtomicLong NEXT_TOKEN = new AtomicLong();

    // rdma_set_option(3): level RDMA_OPTION_ID
    private static final int OPTION_TYPE_OF_SERVICE = 0;
    private static final int OPTION_REUSE_ADDRESS = 1;
    private static final int OPTION_IPV6_ONLY = 2;
    private static final int OPTION_ACK_TIMEOUT = 3;

    private final long token;
    private final PortSpace portSpace;
    private final Map<Long, Membership> multicastGroups = new ConcurrentHashMap<>();
    private QueuePair queuePair;

    private record Membership(InetAddress group, boolean sendOnly) { }

    /** @param channel already retained. */
    ConnectionId(long address, long token, PortSpace portSpace, EventChannel channel) {
        super(VerbsResource.CONNECTION_ID, address, channel);
        this.token = token;
        this.portSpace = portSpace;
        BY_TOKEN.put(token, this);
    }

    /**
     * Creates an id.
     *
     * @param channel gets its events.
     */
    public static ConnectionId create(EventChannel channel, PortSpace portSpace) throws VerbsException {
        ObjectUtil.checkNotNull(portSpace, "portSpace");
        retainAll(channel);
        long token = nextToken();
        long id = created(create0(channel.api(), channel.address(), token, portSpace.value), "rdma_create_id",
                "create a connection id", channel);
        return new ConnectionId(id, token, portSpace, channel);
    }

    static ConnectionId byToken(long token) {
        return BY_TOKEN.get(token);
    }

    static long nextToken() {
        return NEXT_TOKEN.incrementAndGet();
    }

    /** Refuses a connect request that has no listener any more. */
    static void discard(EventChannel channel, long id) {
        destroy0(channel.api(), id);
    }

    public PortSpace portSpace() {
        return portSpace;
    }

    /** Returns the channel to which events of this id come. */
    public EventChannel eventChannel() {
        return (EventChannel) parent(0);
    }

    /**
     * Binds to a local address.
     *
     * @param local resolved; port 0 takes a free one, the wildcard address all devices.
     * @throws VerbsException with {@link Errno#EADDRINUSE}, {@link Errno#EACCES} for a port below 1024 without
     *                        privilege, {@link Errno#ENODEV} or {@link Errno#EADDRNOTAVAIL} if no RDMA device has the
     *                        address.
     */
    public void bind(InetSocketAddress local) throws VerbsException {
        check(bind0(api(), address(), bytes(local), local.getPort(), scope(local)), "rdma_bind_addr",
                () -> "bind to " + local);
    }

    /**
     * Listens for connect requests.
     *
     * @param backlog maximum number of requests that wait to be read; 0 is the system's maximum.
     */
    public void listen(int backlog) throws VerbsException {
        check(listen0(api(), address(), ObjectUtil.checkPositiveOrZero(backlog, "backlog")), "rdma_listen",
                "listen on " + localAddress());
    }

    /**
     * Starts to find the device and the path's addresses. Ends with {@link ConnectionEventType#ADDRESS_RESOLVED} or
     * {@link ConnectionEventType#ADDRESS_ERROR}.
     *
     * @param local         to be bound to, or {@code null}.
     * @param remote        resolved.
     * @param timeoutMillis at least 1.
     */
    public void resolveAddress(InetSocketAddress local, InetSocketAddress remote, int timeoutMillis)
            throws VerbsException {
        ObjectUtil.checkPositive(timeoutMillis, "timeoutMillis");
        check(resolveAddress0(api(), address(), local == null ? null : bytes(local),
                local == null ? 0 : local.getPort(), local == null ? 0 : scope(local), bytes(remote),
                remote.getPort(), scope(remote), timeoutMillis),
                "rdma_resolve_addr", () -> "resolve " + remote + (local == null ? "" : " from " + local));
    }

    /**
     * Starts to find the route. Ends with {@link ConnectionEventType#ROUTE_RESOLVED} or
     * {@link ConnectionEventType#ROUTE_ERROR}.
     *
     * @param timeoutMillis at least 1.
     */
    public void resolveRoute(int timeoutMillis) throws VerbsException {
        check(resolveRoute0(api(), address(), ObjectUtil.checkPositive(timeoutMillis, "timeoutMillis")),
                "rdma_resolve_route", () -> "resolve the route to " + remoteAddress());
    }

    /**
     * The device that the id is bound to: after {@link ConnectionEventType#ADDRESS_RESOLVED}, for a connect request's
     * id, or after {@link #bind} to an address that isn't the wildcard.
     *
     * @return {@code null} if it is not bound to a device.
     */
    public Device device() {
        long context = device0(address());
        return context == 0 ? null : Device.shared(verbs(), context);
    }

    /**
     * The port of {@link #device()} that the local address belongs to, from 1; 0 if the id is not bound to a device.
     */
    public int port() {
        int[] portAndKey = new int[2];
        port0(address(), portAndKey, new byte[AddressVector.GID_LENGTH]);
        return portAndKey[0];
    }

    /**
     * The partition that the local address belongs to with InfiniBand, 0 to 0xFFFF; of no meaning with RoCE, and if the
     * id is not bound to a device.
     */
    public int partitionKey() {
        int[] portAndKey = new int[2];
        port0(address(), portAndKey, new byte[AddressVector.GID_LENGTH]);
        return portAndKey[1];
    }

    /** The global identifier of the {@link #port()}, 16 bytes in network order. */
    public byte[] gid() {
        byte[] gid = new byte[AddressVector.GID_LENGTH];
        port0(address(), new int[2], gid);
        return gid;
    }

    /**
     * Returns the key for limits that apply to a peer. With the embedded provider the key stands for a process of this
     * user, confirmed by the kernel, or for all processes of another user, because a process only claims its address.
     * Otherwise, and if the peer has gone, the key is the address.
     */
    public Object peer() {
        long peer = peer0(api(), address());
        return peer == 0 ? remoteAddress().getAddress() : (Object) peer;
    }

    /**
     * Creates the queue pair of the connection, which the connection manager takes through its states. It is closed
     * with the id at the latest.
     *
     * @param domain of {@link #device()}.
     */
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairInitAttributes attributes)
            throws VerbsException {
        if (queuePair != null && queuePair.isOpen()) {
            throw new IllegalStateException(this + " has a queue pair already");
        }
        requireSameVerbs(domain);
        VerbsObject[] parents = attributes.parents(domain);
        retainAll(parents);
        int[] values = attributes.values();
        long qp;
        try {
            qp = QueuePair.createWithId0(api(), address(), domain.address(), attributes.sendQueue.address(),
                    attributes.receiveQueue.address(), attributes.sharedReceiveQueueAddress(), values);
        } catch (IllegalStateException e) {
            releaseAll(parents);
            throw e;
        }
        created(qp, "rdma_create_qp", () -> attributes.describe(domain.device()), parents);
        queuePair = new QueuePair(qp, values, this, parents);
        return queuePair;
    }

    /** The queue pair of the connection, or {@code null}. */
    public QueuePair queuePair() {
        return queuePair;
    }

    /**
     * Asks the peer to connect. In the port space {@link PortSpace#UDP} it asks only for the queue pair to which
     * datagrams go, which {@link ConnectionEvent#addressVector()} and the methods next to it tell. The accepting end
     * gets no more events then, and no disconnect follows. Ends with {@link ConnectionEventType#ESTABLISHED}, {@link
     * ConnectionEventType#REJECTED}, {@link ConnectionEventType#UNREACHABLE} or {@link
     * ConnectionEventType#CONNECT_ERROR}.
     */
    public void connect(ConnectionParameters parameters) throws VerbsException {
        check(connect0(api(), address(), parameters.privateData, parameters.responderResources,
                parameters.initiatorDepth, parameters.flowControl, parameters.retryCount,
                parameters.rnrRetryCount, parameters.queuePairNumber), "rdma_connect",
                () -> "connect to " + remoteAddress());
    }

    /**
     * Accepts a connect request. With {@link PortSpace#UDP} no event follows. Otherwise ends with {@link
     * ConnectionEventType#ESTABLISHED} or {@link ConnectionEventType#CONNECT_ERROR}. The peer may send before that
     * event is read, so receives must have been posted before.
     */
    public void accept(ConnectionParameters parameters) throws VerbsException {
        check(accept0(api(), address(), parameters.privateData, parameters.responderResources,
                parameters.initiatorDepth, parameters.flowControl, parameters.retryCount,
                parameters.rnrRetryCount, parameters.queuePairNumber), "rdma_accept",
                () -> "accept the connection from " + remoteAddress());
    }

    /**
     * Refuses a connect request. The id must be closed afterwards.
     *
     * @param privateData tells the peer why; at most 148 bytes in the TCP port space, 136 in the UDP port space.
     */
    public void reject(byte[] privateData) throws VerbsException {
        ObjectUtil.checkInRange(privateData.length, 0, 255, "length of private data");
        check(reject0(api(), address(), privateData), "rdma_reject",
                () -> "reject the connection from " + remoteAddress());
    }

    /**
     * Ends the connection: the queue pair goes to the error state and flushes, and the peer gets {@link
     * ConnectionEventType#DISCONNECTED}. The peer must then call this method, too. With the kernel's connection manager
     * the peer's queue pair goes on until then, and this end gets its own event only then (without an answer, after
     * more than a minute). Has no effect on a connection that is disconnected already.
     */
    public void disconnect() throws VerbsException {
        check(disconnect0(api(), address()), "rdma_disconnect", () -> "disconnect from " + remoteAddress());
    }

    /**
     * Joins a multicast group, with an id of {@link PortSpace#UDP} that is bound to a device and not connected. Ends
     * with {@link ConnectionEventType#MULTICAST_JOIN} or {@link ConnectionEventType#MULTICAST_ERROR}. If the id has a
     * queue pair when the event is read, this queue pair receives the datagrams of the group from then on. The id must
     * leave its groups before the queue pair is closed; {@link #close()} does so.
     *
     * @param group    a multicast address; the wildcard asks for a new group, which the event tells.
     * @param sendOnly whether to join without receiving. Not all networks can do this ({@link Errno#EOPNOTSUPP}).
     * @throws IllegalStateException if the group was joined already.
     */
    public void joinMulticast(InetAddress group, boolean sendOnly) throws VerbsException {
        long join = nextToken();
        if (multicastGroups.values().stream().anyMatch(membership -> membership.group.equals(group))) {
            throw new IllegalStateException(this + " has joined " + group.getHostAddress() + " already");
        }
        check(joinMulticast0(api(), address(), group.getAddress(), scope(group), sendOnly, join), "rdma_join_multicast",
                "join the group " + group.getHostAddress());
        multicastGroups.put(join, new Membership(group, sendOnly));
    }

    /**
     * Leaves a multicast group. If the event of the join has not come yet, it never comes.
     *
     * @throws VerbsException with {@link Errno#EADDRNOTAVAIL} if the group was not joined.
     */
    public void leaveMulticast(InetAddress group) throws VerbsException {
        check(leave(group), "rdma_leave_multicast", "leave the group " + group.getHostAddress());
    }

    private int leave(InetAddress group) {
        int errno = leaveMulticast0(api(), address(), group.getAddress(), scope(group));
        multicastGroups.values().removeIf(membership -> membership.group.equals(group));
        return errno;
    }

    /** Returns the group of a join; {@code null} if there is no such join. */
    InetAddress multicastGroup(long join) {
        Membership membership = multicastGroups.get(join);
        return membership == null ? null : membership.group;
    }

    /**
     * Moves the id, with its events that have not been read, to another channel. The caller must be the thread that
     * reads the old channel.
     */
    public void migrate(EventChannel channel) throws VerbsException {
        requireSameVerbs(channel);
        retainAll(channel);
        int errno;
        try {
            errno = migrate0(api(), address(), channel.address());
        } catch (IllegalStateException e) {
            channel.release();
            throw e;
        }
        if (errno != 0) {
            channel.release();
            throw new VerbsException("rdma_migrate_id", errno, "move " + this + " to another event channel");
        }
        replaceParent(0, channel);
    }

    /** Sets whether the id may bind to an address of another id that allows this, too. Before {@link #bind}. */
    public void setReuseAddress(boolean reuse) throws VerbsException {
        setOption(OPTION_REUSE_ADDRESS, reuse ? 1 : 0, "reuse of the address");
    }

    /** Returns whether a wildcard IPv6 listener leaves IPv4 alone. Before {@link #bind}. */
    public void setIpv6Only(boolean only) throws VerbsException {
        setOption(OPTION_IPV6_ONLY, only ? 1 : 0, "IPv6 only");
    }

    /** The IP type of service, 0 to 255. Before {@link #resolveRoute}. */
    public void setTypeOfService(int typeOfService) throws VerbsException {
        setOption(OPTION_TYPE_OF_SERVICE, ObjectUtil.checkInRange(typeOfService, 0, 255, "typeOfService"),
                "type of service");
    }

    /** The acknowledgement timeout of the queue pair: 4.096 microseconds times 2 to this power, 1 to 31. */
    public void setAckTimeoutExponent(int exponent) throws VerbsException {
        setOption(OPTION_ACK_TIMEOUT, ObjectUtil.checkInRange(exponent, 1, 31, "exponent"), "acknowledgement timeout");
    }

    /** @return {@code null} if not bound. */
    public InetSocketAddress localAddress() {
        return socketAddress(true);
    }

    /** @return {@code null} if neither connected nor connecting. */
    public InetSocketAddress remoteAddress() {
        return socketAddress(false);
    }

    /**
     * Leaves all multicast groups, closes the queue pair and destroys the id. A connection ends, a connect request that
     * was neither accepted nor rejected is rejected, events that have not been read are dropped.
     */
    @Override
    public void close() {
        for (Membership membership : multicastGroups.values()) {
            leave(membership.group);
        }
        QueuePair qp = queuePair;
        if (qp != null) {
            qp.close();
        }
        super.close();
    }

    @Override
    int destroy(long address) {
        int errno = destroy0(api(), address);
        if (errno != Errno.EBUSY) {
            BY_TOKEN.remove(token);
        }
        return errno;
    }

    int destroyQueuePair() {
        // rdma_destroy_qp(3) does not report that ibv_destroy_qp(3) refused.
        if (!multicastGroups.isEmpty() &&
                multicastGroups.values().stream().anyMatch(membership -> !membership.sendOnly)) {
            return Errno.EBUSY;
        }
        destroyQueuePair0(api(), address());
        return 0;
    }

    @Override
    public String toString() {
        if (!isOpen()) {
            return super.toString();
        }
        return super.toString() + " [" + localAddress() + " - " + remoteAddress() + ']';
    }

    private void setOption(int option, int value, String what) throws VerbsException {
        check(setOption0(api(), address(), option, value), "rdma_set_option", "set " + what + " to " + value);
    }

    private static byte[] bytes(InetSocketAddress address) {
        if (address.isUnresolved()) {
            throw new IllegalArgumentException("unresolved address: " + address);
        }
        return address.getAddress().getAddress();
    }

    private static int scope(InetSocketAddress address) {
        return scope(address.getAddress());
    }

    private static int scope(InetAddress address) {
        return address instanceof Inet6Address ? ((Inet6Address) address).getScopeId() : 0;
    }

    private InetSocketAddress socketAddress(boolean local) {
        byte[] bytes = new byte[16];
        int[] portAndScope = new int[2];
        int length = address0(api(), address(), local, bytes, portAndScope);
        if (length == 0) {
            return null;
        }
        try {
            InetAddress ip;
            if (length == 4) {
                ip = InetAddress.getByAddress(new byte[] { bytes[0], bytes[1], bytes[2], bytes[3] });
            } else {
                ip = portAndScope[1] == 0 ? InetAddress.getByAddress(bytes) :
                        Inet6Address.getByAddress(null, bytes, portAndScope[1]);
            }
            return new InetSocketAddress(ip, portAndScope[0]);
        } catch (UnknownHostException e) {
            // Only thrown for a wrong number of bytes.
            throw new AssertionError(e);
        }
    }

    private static native long create0(long api, long channel, long token, int portSpace);

    private static native int destroy0(long api, long id);

    private static native int bind0(long api, long id, byte[] address, int port, int scope);

    private static native int listen0(long api, long id, int backlog);

    private static native int resolveAddress0(long api, long id, byte[] local, int localPort, int localScope,
                                              byte[] remote, int remotePort, int remoteScope, int timeoutMillis);

    private static native int resolveRoute0(long api, long id, int timeoutMillis);

    private static native long device0(long id);

    /** Returns the key, or 0 if only the address is known. */
    private static native long peer0(long api, long id);

    /** Fills port and partition key, and the global identifier. */
    private static native void port0(long id, int[] portAndKey, byte[] gid);

    private static native void destroyQueuePair0(long api, long id);

    private static native int connect0(long api, long id, byte[] privateData, int responderResources,
                                       int initiatorDepth, boolean flowControl, int retryCount, int rnrRetryCount,
                                       int queuePairNumber);

    private static native int accept0(long api, long id, byte[] privateData, int responderResources, int initiatorDepth,
                                      boolean flowControl, int retryCount, int rnrRetryCount,
                                       int queuePairNumber);

    private static native int reject0(long api, long id, byte[] privateData);

    private static native int disconnect0(long api, long id);

    private static native int joinMulticast0(long api, long id, byte[] group, int scope, boolean sendOnly, long join);

    private static native int leaveMulticast0(long api, long id, byte[] group, int scope);

    private static native int migrate0(long api, long id, long channel);

    private static native int setOption0(long api, long id, int option, int value);

    /** Fills the address, and port and scope id. Returns 4, 16 or, if there is no address, 0. */
    private static native int address0(long api, long id, boolean local, byte[] address, int[] portAndScope);
}
