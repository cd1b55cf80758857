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

import io.netty.channel.Channel;
import io.netty.channel.rdma.AbstractRdmaChannel;
import io.netty.channel.rdma.connection.Bind;
import io.netty.channel.rdma.connection.DeviceOptions;
import io.netty.channel.rdma.loop.move.ConnectionIdMigration;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionEventType;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.DeviceAddresses;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import io.netty.channel.rdma.verbs.PortSpace;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * The part of a datagram channel that uses the connection manager. It has an address, and answers peers that ask for
 * the queue pair behind it (SIDR, IBA vol. 1, 12.11). One id listens. Another one has the queue pair and joins groups,
 * which a listening id can't ({@code rdma_join_multicast} of {@code drivers/infiniband/core/cma.c}).
 *
 * <p>For the channels of this transport. On the loop of the channel. A bound channel stays on its loop.
 */
abstract class AbstractRdmaDatagramChannel extends AbstractRdmaChannel {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(AbstractRdmaDatagramChannel.class);

    /** The provider that the channel is bound by, or {@code null}. */
    private VerbsApi verbs;
    private ConnectionId listening;

    AbstractRdmaDatagramChannel(Channel parent) {
        super(parent);
    }

    abstract boolean isReuseAddress();

    abstract DeviceOptions deviceOptions();

    /**
     * Creates the queue pair.
     *
     * @param id of a device; belongs to the queue pair on success. Its events are {@link #groupEvent}.
     */
    abstract void createQueuePair(ConnectionId id) throws Exception;

    /** Releases the queue pair of {@link #createQueuePair}, if there is one; also when the channel is closed. */
    abstract void destroyQueuePair();

    /** The number of the queue pair. */
    abstract int queuePairNumber();

    /** Handles an event: a group was joined or lost, or the device was removed. */
    abstract void groupEvent(ConnectionEvent event);

    @Override
    protected final List<ConnectionIdMigration.Owner> owners() {
        return Collections.emptyList();
    }

    @Override
    protected final void registeredAgain() {
    }

    /** Keeps the queue pair. Datagrams wait, as for a channel that does not read. */
    @Override
    protected final void deregistered() {
    }

    @Override
    protected final boolean isBoundToLoop() {
        return listening != null;
    }

    @Override
    protected final void doBind(SocketAddress localAddress) throws Exception {
        InetSocketAddress address = checkResolved(localAddress);
        if (listening != null) {
            throw new AlreadyBoundException();
        }
        // A queue pair is of one device. If several have the address, the one that reaches farthest is taken.
        List<VerbsApi> providers = deviceOptions().providers();
        try {
            for (int i = providers.size() - 1; listening == null; i--) {
                verbs = providers.get(i);
                try {
                    listening = bind(address);
                } catch (NoRdmaDeviceException e) {
                    if (i == 0) {
                        throw e;
                    }
                }
            }
        } finally {
            if (listening == null) {
                verbs = null;
            }
        }
        established(listening.localAddress(), null);
    }

    private ConnectionId bind(InetSocketAddress address) throws Exception {
        InetAddress ip = addressOfDevice(deviceOptions().local(verbs, address, null));
        ConnectionId listener = newConnectionId(verbs);
        boolean bound = false;
        try {
            if (isReuseAddress()) {
                listener.setReuseAddress(true);
            }
            Bind.bind(listener, new InetSocketAddress(ip, address.getPort()), deviceOptions());
            createQueuePairAt(ip);
            listen(listener, this::listenerEvent);
            listener.listen(0);
            bound = true;
            return listener;
        } catch (VerbsException e) {
            throw Bind.exception(verbs, e, address);
        } finally {
            if (!bound) {
                forget(listener);
                listener.close();
                destroyQueuePair();
            }
        }
    }

    /** Replaces the wildcard by an address of a device, because a queue pair is of one device. */
    private InetAddress addressOfDevice(InetSocketAddress address) throws IOException {
        InetAddress ip = address.getAddress();
        if (!ip.isAnyLocalAddress()) {
            return ip;
        }
        DeviceAddresses addresses = DeviceAddresses.find(verbs);
        InetAddress found = addresses.ofThisHost(ip.getClass());
        if (found == null) {
            throw new NoRdmaDeviceException("cannot bind " + address + ": no RDMA device has an address of this " +
                    "family; of the RDMA devices, " + addresses);
        }
        return found;
    }

    private void createQueuePairAt(InetAddress ip) throws Exception {
        ConnectionId id = newConnectionId(verbs);
        try {
            Bind.bind(id, new InetSocketAddress(ip, 0), deviceOptions());
            createQueuePair(id);
            listen(id, this::groupEvent);
        } catch (Throwable t) {
            destroyQueuePair();
            id.close();
            throw t;
        }
    }

    /** Passes the events of an id that resolves a recipient to the listener. */
    final void watch(ConnectionId id, Consumer<ConnectionEvent> listener) throws Exception {
        listen(id, listener);
    }

    final void unwatch(ConnectionId id) {
        forget(id);
    }

    /** Creates an id to resolve a recipient. Its events come on this loop. */
    final ConnectionId newConnectionId(InetAddress recipient) throws Exception {
        if (verbs != null) {
            return newConnectionId(verbs);
        }
        // Not bound yet. A loopback address is of no device.
        List<VerbsApi> providers = deviceOptions().providers();
        return newConnectionId(providers.get(recipient.isLoopbackAddress() ? 0 : providers.size() - 1));
    }

    private ConnectionId newConnectionId(VerbsApi provider) throws Exception {
        return ConnectionId.create(handler().events(provider).channel, PortSpace.UDP);
    }

    private void listenerEvent(ConnectionEvent event) {
        if (event.type() != ConnectionEventType.CONNECT_REQUEST) {
            logger.debug("{}: {}", this, event);
            return;
        }
        // Nothing is kept about the peer, so that many requests need no memory.
        try (ConnectionId request = event.id()) {
            request.accept(new ConnectionParameters().queuePairNumber(queuePairNumber()));
        } catch (VerbsException | OutOfMemoryError e) {
            // The peer gets a refusal without the reason, for which the answer has no room.
            pipeline().fireExceptionCaught(e);
        } catch (IllegalStateException e) {
            logger.debug("{}: could not answer {}", this, event, e);
        }
    }

    @Override
    protected final void closeNative() {
        if (listening != null) {
            forget(listening);
            listening.close();
        }
        destroyQueuePair();
    }
}
