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
import io.netty.channel.rdma.monitor.ConnectionKind;
import io.netty.channel.rdma.monitor.ConnectionRecord;
import io.netty.channel.rdma.monitor.LoopRecord;

import java.net.InetSocketAddress;

/** The view of the connection of a message channel from outside. */
final class MessageRecord extends ConnectionRecord {
    private final ChannelQueuePair queuePair;
    private final RdmaMessageMetrics metrics;

    MessageRecord(ChannelQueuePair queuePair, RdmaMessageMetrics metrics, InetSocketAddress local,
                  InetSocketAddress remote, String reason) {
        super(queuePair.context().counters, local, remote, reason);
        this.queuePair = queuePair;
        this.metrics = metrics;
    }

    @Override
    public ConnectionKind kind() {
        return ConnectionKind.MESSAGES;
    }

    @Override
    public LoopRecord loop() {
        return queuePair.loop();
    }

    @Override
    public long bytesSent() {
        return metrics.bytesSent() + metrics.bytesWritten();
    }

    @Override
    public long bytesReceived() {
        return metrics.bytesReceived() + metrics.bytesRead();
    }

    @Override
    public long bytesCopied() {
        return metrics.bytesCopied();
    }

    /** Verbs have no credits. */
    @Override
    public long creditStallNanos() {
        return 0;
    }

    /** Receives are of the allocator's memory. */
    @Override
    public long receiveMemory() {
        return 0;
    }
}
