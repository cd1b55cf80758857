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

import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionEventType;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.net.InetAddress;
import java.nio.channels.ClosedChannelException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The multicast groups that one channel has joined or is joining. On the loop of the channel.
 */
final class MulticastGroups {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(MulticastGroups.class);

    private final RdmaDatagramChannel channel;
    private final ConnectionId id;
    private final Device device;
    private final Map<InetAddress, Group> groups = new HashMap<>();

    private static final class Group {
        /** The promise, until the group is joined. */
        Promise<RdmaDatagramAddress> promise;
        /** The address of the group, from then on. */
        RdmaDatagramAddress target;
        byte[] gid;
    }

    /** @param id of the queue pair. */
    MulticastGroups(RdmaDatagramChannel channel, ConnectionId id, Device device) {
        this.channel = channel;
        this.id = id;
        this.device = device;
    }

    void join(InetAddress address, boolean sendOnly, Promise<RdmaDatagramAddress> promise) throws VerbsException {
        if (groups.containsKey(address)) {
            throw new IllegalStateException("the channel has joined " + NetUtil.toAddressString(address) + " already");
        }
        Group group = new Group();
        group.promise = promise;
        groups.put(address, group);
        try {
            id.joinMulticast(address, sendOnly);
        } catch (Throwable t) {
            groups.remove(address);
            throw t;
        }
    }

    void leave(InetAddress address) throws VerbsException {
        Group group = groups.remove(address);
        if (group == null) {
            throw new IllegalStateException("the channel has not joined " + NetUtil.toAddressString(address));
        }
        try {
            id.leaveMulticast(address);
        } finally {
            if (group.promise != null) {
                group.promise.tryFailure(new RdmaMulticastException(address, NetUtil.toAddressString(address) +
                        " was left before it was joined"));
            }
        }
    }

    void event(ConnectionEvent event) {
        InetAddress address = event.multicastGroup();
        Group group = groups.get(address);
        if (group == null) {
            return;
        }
        Promise<RdmaDatagramAddress> promise = group.promise;
        if (event.type() == ConnectionEventType.MULTICAST_JOIN && event.status() == 0) {
            group.promise = null;
            group.target = RdmaDatagramAddress.resolved(event.addressVector(), device, event.queuePairNumber(),
                    event.queueKey());
            group.gid = group.target.gid();
            if (promise != null) {
                promise.trySuccess(group.target);
            }
            return;
        }
        forget(address);
        String name = "the group " + NetUtil.toAddressString(address);
        if (promise != null) {
            promise.tryFailure(new RdmaMulticastException(address, name + " can't be joined: " + event.describe()));
        } else {
            channel.pipeline().fireExceptionCaught(new RdmaMulticastException(address, name +
                    " is lost, join it again: " + event.describe()));
        }
    }

    /** The address for datagrams to the group, or {@code null} if it is not joined. */
    RdmaDatagramAddress target(InetAddress address) {
        Group group = groups.get(address);
        return group == null ? null : group.target;
    }

    /** The group with this global identifier, or {@code null}. */
    InetAddress find(byte[] gid) {
        for (Map.Entry<InetAddress, Group> entry : groups.entrySet()) {
            if (Arrays.equals(entry.getValue().gid, gid)) {
                return entry.getKey();
            }
        }
        return null;
    }

    private void forget(InetAddress address) {
        groups.remove(address);
        try {
            id.leaveMulticast(address);
        } catch (VerbsException e) {
            logger.debug("{}: could not leave {}", channel, address, e);
        }
    }

    /** Leaves all groups, because a queue pair can't be destroyed while it is a member. */
    void close() {
        while (!groups.isEmpty()) {
            InetAddress address = groups.keySet().iterator().next();
            Promise<RdmaDatagramAddress> promise = groups.get(address).promise;
            forget(address);
            if (promise != null) {
                promise.tryFailure(new ClosedChannelException());
            }
        }
    }
}
