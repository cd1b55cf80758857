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
package io.netty.channel.rdma.connection;

import io.netty.channel.rdma.connection.StreamCounters.Counter;
import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.channel.rdma.monitor.ConnectionKind;
import io.netty.channel.rdma.monitor.ConnectionRecord;
import io.netty.channel.rdma.monitor.LoopRecord;

import java.net.InetSocketAddress;

/** The view of a byte-stream connection from outside. */
final class StreamRecord extends ConnectionRecord {
    private final LoopBinding loop;
    private final StreamCounters counters;

    StreamRecord(LoopBinding loop, ConnectionResources resources, InetSocketAddress local, InetSocketAddress remote,
                 String reason) {
        super(resources.context.counters, local, remote, reason);
        this.loop = loop;
        counters = resources.counters;
    }

    @Override
    public ConnectionKind kind() {
        return ConnectionKind.STREAM;
    }

    @Override
    public LoopRecord loop() {
        return loop.handler();
    }

    @Override
    public long bytesSent() {
        return counters.get(Counter.SENT_IN_PLACE) + counters.get(Counter.SENT_INLINE) +
                counters.get(Counter.SENT_COPIED);
    }

    @Override
    public long bytesReceived() {
        return counters.get(Counter.RECEIVED_IN_PLACE) + counters.get(Counter.RECEIVED_COPIED);
    }

    @Override
    public long bytesCopied() {
        return counters.get(Counter.SENT_COPIED) + counters.get(Counter.RECEIVED_COPIED);
    }

    @Override
    public long creditStallNanos() {
        return counters.creditStallNanos();
    }

    @Override
    public long receiveMemory() {
        return counters.receiveMemory();
    }
}
