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
package io.netty.channel.rdma;

import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.QueuePairAttributes;
import io.netty.channel.rdma.verbs.VerbsException;

/**
 * Gives the options of a channel to the connection manager and to the device, each when it counts.
 */
final class ConnectionOptions {
    private ConnectionOptions() { }

    /** Before the route is resolved. */
    static void route(ConnectionId id, RdmaSocketChannelConfig config) throws VerbsException {
        if (config.getTrafficClass() != 0) {
            id.setTypeOfService(config.getTrafficClass());
        }
    }

    /** For connecting or accepting, which is next. */
    static ConnectionParameters parameters(ConnectionId id, RdmaSocketChannelConfig config, byte[] data)
            throws VerbsException {
        if (config.getAckTimeout() != 0) {
            id.setAckTimeoutExponent(config.getAckTimeout());
        }
        return new ConnectionParameters().privateData(data).retryCount(config.getRetryCount())
                .rnrRetryCount(config.getRnrRetryCount());
    }

    /** Once the queue pair is ready to send: the connection manager takes no such parameter. */
    static void connected(QueuePair queuePair, RdmaSocketChannelConfig config) throws VerbsException {
        if (config.getMinRnrTimer() != 0) {
            queuePair.modify(new QueuePairAttributes().minRnrTimer(config.getMinRnrTimer()));
        }
    }
}
