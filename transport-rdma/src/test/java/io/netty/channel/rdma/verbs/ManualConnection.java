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

/**
 * Connects queue pairs of one device without the connection manager.
 */
final class ManualConnection {
    private static final int PORT = 1;
    private static final int MTU = 1024;
    private static final int DEPTH = 16;

    private ManualConnection() { }

    static void connect(Device device, QueuePair left, QueuePair right) throws VerbsException {
        init(left);
        init(right);
        readyToReceive(device, left, right.number());
        readyToReceive(device, right, left.number());
        readyToSend(left);
        readyToSend(right);
    }

    /** With all rights of access. */
    static void init(QueuePair queuePair) throws VerbsException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).partitionKeyIndex(0).port(PORT)
                .accessFlags(AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC));
    }

    static void readyToReceive(Device device, QueuePair queuePair, int peer) throws VerbsException {
        PortAttributes port = device.portAttributes(PORT);
        QueuePairAttributes attributes = new QueuePairAttributes().state(QueuePairState.RTR).pathMtu(MTU)
                .destinationQueuePair(peer).receivePsn(0).responderResources(DEPTH).minRnrTimer(12);
        if (port.isEthernet()) {
            attributes.globalPath(PORT, 0, device.gid(PORT, 0), 1);
        } else {
            attributes.path(PORT, port.lid(), 0);
        }
        queuePair.modify(attributes);
    }

    static void readyToSend(QueuePair queuePair) throws VerbsException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(0).initiatorDepth(DEPTH)
                .timeoutExponent(14).retryCount(7).rnrRetryCount(7));
    }
}
