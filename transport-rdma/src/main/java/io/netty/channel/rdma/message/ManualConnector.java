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
import io.netty.channel.rdma.connection.QueuePairOptions;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.QueuePairAttributes;
import io.netty.channel.rdma.verbs.QueuePairState;
import io.netty.channel.rdma.verbs.VerbsException;

import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Changes the states of a queue pair that is connected without the connection manager.
 */
final class ManualConnector {
    /** 1 second: the peer may still be about to connect. */
    private static final int ACK_TIMEOUT = 18;

    private final ChannelQueuePair queuePair;
    private final RdmaMessageChannelConfig config;
    private final DevicePort port;
    private final int mtuCode;
    private final int packetSequence = ThreadLocalRandom.current().nextInt(1 << 24);
    private final int responderResources;
    private final int initiatorDepth;

    /** @param bound an id whose address chooses port, GID and partition of the device; or {@code null}. */
    ManualConnector(ChannelQueuePair queuePair, RdmaMessageChannelConfig config, ConnectionId bound)
            throws IOException {
        if (queuePair.context().iwarp) {
            throw new IOException(queuePair.device() + " is an iWARP device, whose connections are made by the " +
                    "connection manager alone: connect to an address");
        }
        this.queuePair = queuePair;
        this.config = config;
        port = DevicePort.find(queuePair, bound, config.queuePair.device);
        int wanted = config.get(RdmaMessageChannelConfig.PATH_MTU);
        int mtu = port.attributes.activeMtu();
        mtuCode = mtuCode(wanted == 0 ? mtu : Math.min(wanted, mtu));
        responderResources = Math.min(255, queuePair.limit(RdmaMessageChannelConfig.RESPONDER_RESOURCES,
                queuePair.context().attributes.maxResponderResources(), "its max_qp_rd_atom"));
        initiatorDepth = Math.min(255, queuePair.limit(RdmaMessageChannelConfig.INITIATOR_DEPTH,
                queuePair.context().attributes.maxInitiatorDepth(), "its max_qp_init_rd_atom"));
    }

    /** Makes the queue pair ready for receives to be posted. */
    void init() throws VerbsException {
        queuePair.queuePair().modify(new QueuePairAttributes().state(QueuePairState.INIT)
                .partitionKeyIndex(port.partitionKeyIndex).port(port.number)
                .accessFlags(RdmaPermission.accessFlags(config.get(RdmaMessageChannelConfig.REMOTE_PERMISSIONS))));
    }

    /** The endpoint that the peer needs. */
    RdmaEndpoint endpoint() {
        return new RdmaEndpoint(port.attributes.isEthernet(), mtuCode,
                queuePair.queuePair().number(), packetSequence, port.attributes.lid(), responderResources,
                initiatorDepth, port.gid());
    }

    /** Connects the queue pair. Both ends can send once the peer has done the same. */
    void connect(RdmaEndpoint peer) throws IOException {
        if (peer.ethernet != port.attributes.isEthernet()) {
            throw new IOException("the peer's link layer is " + (peer.ethernet ? "Ethernet" : "InfiniBand") +
                    ", that of " + queuePair.device() + " is not");
        }
        int mtu = 128 << Math.min(peer.mtuCode, mtuCode);
        QueuePairAttributes receive = new QueuePairAttributes().state(QueuePairState.RTR).pathMtu(mtu)
                .destinationQueuePair(peer.queuePairNumber).receivePsn(peer.packetSequence)
                .responderResources(Math.min(responderResources, peer.initiatorDepth))
                .minRnrTimer(config.get(QueuePairOptions.MIN_RNR_TIMER));
        int serviceLevel = config.get(RdmaMessageChannelConfig.SERVICE_LEVEL);
        if (port.hasGlobalHeader() || config.get(RdmaMessageChannelConfig.GLOBAL_HEADER)) {
            receive.globalPath(port.number, port.gidIndex(), peer.gid, DevicePort.HOP_LIMIT)
                    .destinationLid(peer.lid).serviceLevel(serviceLevel)
                    .trafficClass(config.get(QueuePairOptions.TRAFFIC_CLASS));
        } else {
            receive.path(port.number, peer.lid, serviceLevel);
        }
        queuePair.queuePair().modify(receive);
        int ackTimeout = config.get(QueuePairOptions.ACK_TIMEOUT);
        queuePair.queuePair().modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(packetSequence)
                .initiatorDepth(Math.min(initiatorDepth, peer.responderResources))
                .timeoutExponent(ackTimeout == 0 ? ACK_TIMEOUT : ackTimeout)
                .retryCount(config.get(QueuePairOptions.RETRY_COUNT))
                .rnrRetryCount(config.get(QueuePairOptions.RNR_RETRY_COUNT)));
    }

    private static int mtuCode(int bytes) {
        return Integer.numberOfTrailingZeros(Math.max(256, bytes)) - 7;
    }
}
