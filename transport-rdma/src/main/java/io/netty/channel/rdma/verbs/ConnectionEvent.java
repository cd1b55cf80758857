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

import java.net.InetAddress;

/**
 * A connection manager event, copied out and already acknowledged (rdma_get_cm_event(3)). Immutable.
 */
public final class ConnectionEvent {
    private static final int REJECT_STALE_CONNECTION = 10;
    private static final int REJECT_INVALID_SERVICE_ID = 8;
    private static final int REJECT_CONSUMER_DEFINED = 28;
    private static final int REJECT_INVALID_CLASS_VERSION = 31;

    // Status of a SIDR reply, which replaces a rejection with datagrams: IBA vol. 1, 12.11.2.2.
    private static final int SIDR_UNSUPPORTED = 1;
    private static final int SIDR_REJECT = 2;
    private static final int SIDR_UNSUPPORTED_VERSION = 5;

    private final ConnectionEventType type;
    private final ConnectionId id;
    private final ConnectionId listener;
    private final int status;
    private final byte[] privateData;
    private final int responderResources;
    private final int initiatorDepth;
    private final int rnrRetryCount;
    private final int queuePairNumber;
    private final Destination destination;

    /**
     * The destination of datagrams.
     *
     * @param group the group of a multicast event, else {@code null}.
     */
    record Destination(AddressVector vector, int queueKey, InetAddress group) { }

    ConnectionEvent(ConnectionEventType type, ConnectionId id, ConnectionId listener, int status, byte[] privateData,
                    int responderResources, int initiatorDepth, int rnrRetryCount, int queuePairNumber,
                    Destination destination) {
        this.type = type;
        this.id = id;
        this.listener = listener;
        this.status = status;
        this.privateData = privateData;
        this.responderResources = responderResources;
        this.initiatorDepth = initiatorDepth;
        this.rnrRetryCount = rnrRetryCount;
        this.queuePairNumber = queuePairNumber;
        this.destination = destination;
    }

    public ConnectionEventType type() {
        return type;
    }

    /**
     * Returns the id of the event. With {@link ConnectionEventType#CONNECT_REQUEST} it is a new one, which belongs to
     * the caller from now on, and uses the listener's event channel until it is migrated.
     */
    public ConnectionId id() {
        return id;
    }

    /** The listening id with {@link ConnectionEventType#CONNECT_REQUEST}, else {@code null}. */
    public ConnectionId listener() {
        return listener;
    }

    /**
     * 0, a negative errno, or, with {@link ConnectionEventType#REJECTED}, the reason as a positive number of InfiniBand
     * Architecture Specification vol. 1, 12.6.7.2. With {@link PortSpace#UDP} a rejection is
     * {@link ConnectionEventType#UNREACHABLE} with a positive status.
     */
    public int status() {
        return status;
    }

    /** Returns whether the cause of a rejection is that no process listens at the address. */
    public boolean isNobodyListening() {
        return type == ConnectionEventType.REJECTED &&
                (status == REJECT_INVALID_SERVICE_ID || status == -Errno.ECONNREFUSED) ||
                type == ConnectionEventType.UNREACHABLE && status == SIDR_UNSUPPORTED;
    }

    /** Returns whether a rejection came from the application at the other end, and not from its connection manager. */
    public boolean isRejectedByApplication() {
        return type == ConnectionEventType.REJECTED &&
                (status == REJECT_CONSUMER_DEFINED || status == -Errno.ECONNRESET) ||
                type == ConnectionEventType.UNREACHABLE && status == SIDR_REJECT;
    }

    /**
     * Returns whether a process listens at the address, but with an incompatible version of the library. With the
     * embedded provider also for {@link ConnectionEventType#ADDRESS_ERROR}: then no other process has the address.
     */
    public boolean isOfAnotherVersion() {
        return type == ConnectionEventType.REJECTED && status == REJECT_INVALID_CLASS_VERSION ||
                type == ConnectionEventType.UNREACHABLE && status == SIDR_UNSUPPORTED_VERSION ||
                type == ConnectionEventType.ADDRESS_ERROR && status == -Errno.EPROTONOSUPPORT;
    }

    /** The type and status for a person. */
    public String describe() {
        if (isOfAnotherVersion()) {
            return "the process that listens there has a native library of RDMA of another version: have all " +
                    "processes of this host use the same version of netty-transport-native-rdma";
        }
        if (isNobodyListening()) {
            return "rejected: nobody listens";
        }
        if (isRejectedByApplication()) {
            return "rejected by the application";
        }
        if (type == ConnectionEventType.REJECTED) {
            return status == REJECT_STALE_CONNECTION ? "rejected: stale connection" : "rejected, reason " + status;
        }
        return status < 0 ? type + ": " + NativeMemory.errorText(-status) + " (errno " + -status + ')' :
                status == 0 ? type.toString() : type + ", status " + status;
    }

    /**
     * The bytes that the peer sent with its request, acceptance or rejection; zero-padded by some providers. Not a
     * copy.
     */
    public byte[] privateData() {
        return privateData;
    }

    /** Number of RDMA reads and atomics that the peer wants to have outstanding here (rdma_get_cm_event(3)). */
    public int responderResources() {
        return responderResources;
    }

    /** Number of RDMA reads and atomics that the peer accepts at a time (rdma_get_cm_event(3)). */
    public int initiatorDepth() {
        return initiatorDepth;
    }

    /** Returns the number of retries that the peer wants if it has no receive posted; 7 is infinite. */
    public int rnrRetryCount() {
        return rnrRetryCount;
    }

    /** Returns the number of the peer's queue pair; of all members with {@link ConnectionEventType#MULTICAST_JOIN}. */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /**
     * Returns the address vector for datagrams to the peer or the group, with {@link ConnectionEventType#ESTABLISHED}
     * in the port space {@link PortSpace#UDP} and {@link ConnectionEventType#MULTICAST_JOIN}; else {@code null}.
     */
    public AddressVector addressVector() {
        return destination == null || type == ConnectionEventType.MULTICAST_ERROR ? null : destination.vector;
    }

    /** Returns the queue key of these datagrams; 0 if {@link #addressVector()} is {@code null}. */
    public int queueKey() {
        return destination == null ? 0 : destination.queueKey;
    }

    /**
     * The group that was given to {@link ConnectionId#joinMulticast}, with {@link ConnectionEventType#MULTICAST_JOIN}
     * and {@link ConnectionEventType#MULTICAST_ERROR}; {@code null} with others.
     */
    public InetAddress multicastGroup() {
        return destination == null ? null : destination.group;
    }

    @Override
    public String toString() {
        return describe() + " on " + id;
    }
}
