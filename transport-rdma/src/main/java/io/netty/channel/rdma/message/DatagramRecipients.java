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
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.Device;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The queue pairs of the IP addresses that one channel sends to. They are resolved when needed, and remembered for a
 * while, as by ARP. An old queue pair is used while the address is resolved again. On the loop of the channel.
 */
final class DatagramRecipients {
    private static final int MAX_REMEMBERED = 4096;
    static final int MAX_PENDING = 256;

    private final RdmaDatagramChannel channel;
    private final Device device;
    private final DatagramSender sender;
    private final Map<InetSocketAddress, Recipient> recipients = new LinkedHashMap<>(16, 0.75f, true);
    private int pending;
    private boolean closed;

    DatagramRecipients(RdmaDatagramChannel channel, Device device, DatagramSender sender) {
        this.channel = channel;
        this.device = device;
        this.sender = sender;
    }

    private final class Recipient implements ServiceResolution.Listener {
        private final InetSocketAddress address;
        private final ArrayDeque<DatagramSend> waiting = new ArrayDeque<>();
        private RdmaDatagramAddress target;
        private long foundNanos;
        private ServiceResolution resolution;

        Recipient(InetSocketAddress address) {
            this.address = address;
        }

        boolean isOutdated() {
            return target == null || System.nanoTime() - foundNanos >
                    TimeUnit.MILLISECONDS.toNanos(channel.config.get(RdmaDatagramChannelConfig.ADDRESS_TTL_MILLIS));
        }

        void resolve() throws Exception {
            if (pending >= MAX_PENDING) {
                throw new IOException("too many addresses are being asked for: " + pending + "; send to " + address +
                        " again when some have answered");
            }
            ServiceResolution started = new ServiceResolution(channel, channel.config.queuePair, address, this);
            started.start(channel.localAddress(), channel.config().getConnectTimeoutMillis());
            resolution = started;
            pending++;
        }

        @Override
        public void resolved(ConnectionId id, ConnectionEvent answer) throws IOException {
            found(address(id, answer));
        }

        void found(RdmaDatagramAddress newTarget) {
            ended();
            target = newTarget;
            foundNanos = System.nanoTime();
            channel.recipientFound(address, target);
            for (DatagramSend send : waiting) {
                send.target(target);
            }
            sender.ready(waiting);
            waiting.clear();
        }

        @Override
        public void failed(Throwable cause) {
            ended();
            recipients.remove(address, this);
            sender.failed(waiting, cause);
            waiting.clear();
        }

        private void ended() {
            if (resolution != null) {
                resolution = null;
                pending--;
            }
        }
    }

    /** The address in an answer, if it is for the device of the channel. */
    RdmaDatagramAddress address(ConnectionId id, ConnectionEvent answer) throws IOException {
        if (id.device() != device) {
            throw new IOException(id.remoteAddress() + " is reached by " + id.device() + ", but this channel is " +
                    "bound to " + device + ": use a channel that is bound to " + id.localAddress().getAddress());
        }
        return RdmaDatagramAddress.resolved(answer.addressVector(), device, answer.queuePairNumber(),
                answer.queueKey());
    }

    /**
     * Sets the target of a datagram.
     *
     * @return false if the target is not known yet. The datagram waits, and the sender gets it, or fails it, later.
     */
    boolean route(DatagramSend send, InetSocketAddress address) throws Exception {
        Recipient recipient = recipient(address);
        if (recipient.resolution == null && recipient.isOutdated()) {
            try {
                recipient.resolve();
            } catch (Throwable t) {
                recipients.remove(address);
                throw t;
            }
        }
        if (recipient.target == null) {
            recipient.waiting.add(send);
            return false;
        }
        send.target(recipient.target);
        return true;
    }

    private Recipient recipient(InetSocketAddress address) {
        Recipient recipient = recipients.get(address);
        if (recipient == null) {
            recipient = new Recipient(address);
            recipients.put(address, recipient);
            if (recipients.size() > MAX_REMEMBERED) {
                Iterator<Recipient> eldest = recipients.values().iterator();
                while (eldest.next().resolution != null) {
                    // Datagrams wait for this address. The loop ends, because MAX_PENDING is less than MAX_REMEMBERED.
                }
                eldest.remove();
            }
        }
        return recipient;
    }

    /** Adds an address that a connect has resolved. */
    void put(InetSocketAddress address, RdmaDatagramAddress target) {
        Recipient recipient = recipient(address);
        if (recipient.resolution != null) {
            recipient.resolution.cancel();
        }
        recipient.found(target);
    }

    /** Forgets an address, so that the next datagram has it resolved again. */
    void forget(InetSocketAddress address) {
        Recipient recipient = recipients.get(address);
        if (recipient != null && recipient.resolution == null) {
            recipients.remove(address);
        }
    }

    void close() {
        if (!closed) {
            closed = true;
            for (Recipient recipient : recipients.values()) {
                if (recipient.resolution != null) {
                    recipient.resolution.cancel();
                }
            }
            recipients.clear();
        }
    }
}
