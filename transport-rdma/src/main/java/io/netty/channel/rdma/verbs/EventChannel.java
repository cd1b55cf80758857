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

import io.netty.util.internal.EmptyArrays;
import io.netty.util.internal.UnstableApi;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.net.InetAddress;

/**
 * The file descriptor by which connection ids report events ({@code struct rdma_event_channel}). It is non-blocking.
 * One thread at a time reads events.
 */
@UnstableApi
public final class EventChannel extends VerbsObject {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(EventChannel.class);

    // Fields that next0() fills, see event_channel.c.
    private static final int TYPE = 0;
    private static final int STATUS = 1;
    private static final int TOKEN = 2;
    private static final int NEW_ID = 3;
    private static final int RESPONDER_RESOURCES = 4;
    private static final int INITIATOR_DEPTH = 5;
    private static final int RNR_RETRY_COUNT = 6;
    private static final int QUEUE_PAIR_NUMBER = 7;
    private static final int PRIVATE_DATA_LENGTH = 8;
    private static final int QUEUE_KEY = 9;
    private static final int MULTICAST_TOKEN = 10;
    private static final int COUNT = 11;

    private final int fd;
    private final long[] values = new long[COUNT];
    private final byte[] privateData = new byte[256];
    private final int[] addressVector = new int[AddressVector.COUNT];
    private final byte[] gid = new byte[AddressVector.GID_LENGTH];

    private EventChannel(VerbsApi verbs, long address) {
        super(VerbsResource.EVENT_CHANNEL, verbs, address);
        fd = fd0(address);
    }

    /** Creates a channel of {@link VerbsApi#preferred()}. */
    public static EventChannel create() throws VerbsException {
        return create(VerbsApi.preferred());
    }

    /** Creates a channel, for ids of the connection manager of a provider. */
    public static EventChannel create(VerbsApi verbs) throws VerbsException {
        return new EventChannel(verbs, created(create0(verbs.api()), "rdma_create_event_channel",
                "create an event channel of the RDMA connection manager"));
    }

    /** Returns the descriptor to watch for reading, level-triggered. The channel owns and closes it. */
    public int fd() {
        address();
        return fd;
    }

    /**
     * Takes the next event without blocking. {@link ConnectionEventType#MULTICAST_JOIN} is an exception: it makes the
     * queue pair a member, for which {@link QueuePair#attachMulticast} has the time. The event is copied and
     * acknowledged before the return. So closing or migrating an id never waits for the acknowledgement of an event
     * (rdma_destroy_id(3), rdma_migrate_id(3)).
     *
     * @return {@code null} if there is none.
     */
    public ConnectionEvent nextEvent() throws VerbsException {
        for (;;) {
            long newToken = ConnectionId.nextToken();
            int errno = next0(api(), address(), newToken, values, privateData, addressVector, gid);
            if (errno == Errno.EAGAIN) {
                return null;
            }
            check(errno, "rdma_get_cm_event", "read events of the RDMA connection manager");
            ConnectionEvent event = event(newToken);
            if (event != null) {
                return event;
            }
        }
    }

    /** @return {@code null} for an event whose id another thread has just closed. */
    private ConnectionEvent event(long newToken) {
        ConnectionEventType type = ConnectionEventType.of((int) values[TYPE]);
        ConnectionId id = ConnectionId.byToken(values[TOKEN]);
        ConnectionId listener = null;
        if (values[NEW_ID] != 0) {
            listener = id;
            if (listener == null) {
                ConnectionId.discard(this, values[NEW_ID]);
                return null;
            }
            retainAll(this);
            id = new ConnectionId(values[NEW_ID], newToken, listener.portSpace(), this);
        }
        if (id == null || type == null) {
            logger.debug("Ignored connection manager event of type {}", values[TYPE]);
            return null;
        }
        int length = (int) values[PRIVATE_DATA_LENGTH];
        byte[] data = EmptyArrays.EMPTY_BYTES;
        if (length > 0) {
            data = new byte[length];
            System.arraycopy(privateData, 0, data, 0, length);
        }
        return new ConnectionEvent(type, id, listener, (int) values[STATUS], data, (int) values[RESPONDER_RESOURCES],
                (int) values[INITIATOR_DEPTH], (int) values[RNR_RETRY_COUNT], (int) values[QUEUE_PAIR_NUMBER],
                destination(id, type));
    }

    /** The destination of datagrams; {@code null} for events that have none. */
    private ConnectionEvent.Destination destination(ConnectionId id, ConnectionEventType type) {
        InetAddress group = id.multicastGroup(values[MULTICAST_TOKEN]);
        boolean known = id.portSpace() == PortSpace.UDP && (type == ConnectionEventType.ESTABLISHED ||
                type == ConnectionEventType.MULTICAST_JOIN || type == ConnectionEventType.MULTICAST_ERROR);
        return !known ? null : new ConnectionEvent.Destination(new AddressVector(addressVector.clone(), gid.clone()),
                (int) values[QUEUE_KEY], group);
    }

    @Override
    int destroy(long address) {
        destroy0(api(), address);
        return 0;
    }

    private static native long create0(long api);

    private static native void destroy0(long api, long channel);

    private static native int fd0(long channel);

    private static native int next0(long api, long channel, long newToken, long[] values, byte[] privateData,
                                     int[] addressVector, byte[] gid);
}
