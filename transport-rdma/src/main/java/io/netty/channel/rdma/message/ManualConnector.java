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

import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.QueuePairOptions;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.Gid;
import io.netty.channel.rdma.verbs.PortAttributes;
import io.netty.channel.rdma.verbs.QueuePairAttributes;
import io.netty.channel.rdma.verbs.QueuePairState;
import io.netty.channel.rdma.verbs.VerbsException;

import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Takes a queue pair through its states where the connection manager does not.
 */
final class ManualConnector {
    /** Of RoCE packets, which routers may forward. */
    private static final int HOP_LIMIT = 64;
    /** 1 second: the peer may still be about to connect. */
    private static final int ACK_TIMEOUT = 18;

    private final ChannelQueuePair queuePair;
    private final RdmaMessageChannelConfig config;
    private final int port;
    private final PortAttributes portAttributes;
    private final int gidIndex;
    private final byte[] gid;
    private final int packetSequence = ThreadLocalRandom.current().nextInt(1 << 24);
    private final int responderResources;
    private final int initiatorDepth;

    /** @param local the address that chooses the port of the device, and its GID. */
    ManualConnector(ChannelQueuePair queuePair, RdmaMessageChannelConfig config, InetAddress local)
            throws IOException {
        this.queuePair = queuePair;
        this.config = config;
        Device device = queuePair.device();
        int foundPort = 0;
        Gid found = null;
        for (int candidate = 1; candidate <= queuePair.attributes().portCount(); candidate++) {
            PortAttributes attributes = device.portAttributes(candidate);
            if (!attributes.isActive()) {
                continue;
            }
            if (!attributes.isEthernet()) {
                // InfiniBand has no IP addresses in its GIDs.
                foundPort = foundPort == 0 ? candidate : foundPort;
                continue;
            }
            for (Gid entry : device.gids(candidate)) {
                if (entry.address().equals(local) && (found == null || entry.type() == Gid.Type.ROCE_V2)) {
                    found = entry;
                    foundPort = candidate;
                }
            }
        }
        if (foundPort == 0) {
            throw new IOException("no active port of " + device + " has the address " + local);
        }
        port = foundPort;
        portAttributes = device.portAttributes(port);
        gidIndex = found == null ? 0 : found.index();
        gid = found == null ? device.gid(port, 0) : found.bytes();
        responderResources = Math.min(255, queuePair.limit(config.responderResources,
                queuePair.attributes().maxResponderResources(), "its max_qp_rd_atom"));
        initiatorDepth = Math.min(255, queuePair.limit(config.initiatorDepth,
                queuePair.attributes().maxInitiatorDepth(), "its max_qp_init_rd_atom"));
    }

    /** From here on receives can be posted. */
    void init() throws VerbsException {
        queuePair.queuePair().modify(new QueuePairAttributes().state(QueuePairState.INIT).partitionKeyIndex(0)
                .port(port).accessFlags(RdmaPermission.accessFlags(config.getRemotePermissions())));
    }

    /** What the peer needs. */
    RdmaEndpoint endpoint() {
        return new RdmaEndpoint(portAttributes.isEthernet(), mtuCode(portAttributes.activeMtu()),
                queuePair.queuePair().number(), packetSequence, portAttributes.lid(), responderResources,
                initiatorDepth, gid);
    }

    /** From here on both can send, once the peer has done the same. */
    void connect(RdmaEndpoint peer) throws IOException {
        if (peer.ethernet != portAttributes.isEthernet()) {
            throw new IOException("the peer's link layer is " + (peer.ethernet ? "Ethernet" : "InfiniBand") +
                    ", that of " + queuePair.device() + " is not");
        }
        QueuePairOptions options = config.queuePair();
        int mtu = 128 << Math.min(peer.mtuCode, mtuCode(portAttributes.activeMtu()));
        QueuePairAttributes receive = new QueuePairAttributes().state(QueuePairState.RTR).pathMtu(mtu)
                .destinationQueuePair(peer.queuePairNumber).receivePsn(peer.packetSequence)
                .responderResources(Math.min(responderResources, peer.initiatorDepth))
                .minRnrTimer(options.minRnrTimer.get());
        if (peer.ethernet) {
            receive.globalPath(port, gidIndex, peer.gid, HOP_LIMIT);
        } else {
            receive.path(port, peer.lid, 0);
        }
        queuePair.queuePair().modify(receive);
        int ackTimeout = options.ackTimeout.get();
        queuePair.queuePair().modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(packetSequence)
                .initiatorDepth(Math.min(initiatorDepth, peer.responderResources))
                .timeoutExponent(ackTimeout == 0 ? ACK_TIMEOUT : ackTimeout).retryCount(options.retryCount.get())
                .rnrRetryCount(options.rnrRetryCount.get()));
    }

    private static int mtuCode(int bytes) {
        return Integer.numberOfTrailingZeros(Math.max(256, bytes)) - 7;
    }
}
