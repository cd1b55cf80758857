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

import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.QueuePairAttributes;
import io.netty.channel.rdma.verbs.VerbsException;

/**
 * The options of channels that have a queue pair: how deep the queues are, how long the device tries, and how the
 * connection is made. Datagram channels take only some of them. Gives them to the connection manager and to the
 * device, each when it counts.
 *
 * <p>Any thread.
 */
public final class QueuePairOptions {
    public final IntOption sendQueueDepth = new IntOption("SEND_QUEUE_DEPTH", 256, 16, 32768);
    public final IntOption receiveQueueDepth;
    public final IntOption maxInline = new IntOption("MAX_INLINE", 64, 0, 1024);
    /** Only for those that take it. */
    public final IntOption maxInlineReceive = new IntOption("MAX_INLINE_RECEIVE", 0, 0, 1024);
    public final IntOption retryCount = new IntOption("RETRY_COUNT", 6, 0, 7);
    public final IntOption rnrRetryCount = new IntOption("RNR_RETRY_COUNT", 7, 0, 7);
    public final IntOption ackTimeout = new IntOption("ACK_TIMEOUT", 0, 0, 31);
    public final IntOption minRnrTimer;
    public final IntOption resolveTimeoutMillis =
            new IntOption("RESOLVE_TIMEOUT_MILLIS", 60_000, 1, 3_600_000);
    public final IntOption trafficClass = new IntOption(ChannelOption.IP_TOS, 0, 0, 255);
    /** Not among those that {@link #find} knows. */
    public final DeviceOptions device = new DeviceOptions();
    private final IntOption[] all;

    /**
     * @param receiveQueueDepth the default of {@code RECEIVE_QUEUE_DEPTH}.
     * @param minRnrTimer that of {@code MIN_RNR_TIMER}.
     */
    public QueuePairOptions(int receiveQueueDepth, int minRnrTimer) {
        this.receiveQueueDepth =
                new IntOption("RECEIVE_QUEUE_DEPTH", receiveQueueDepth, 16, 32768);
        this.minRnrTimer = new IntOption("MIN_RNR_TIMER", minRnrTimer, 0, 31);
        all = new IntOption[] {
                sendQueueDepth, this.receiveQueueDepth, maxInline, retryCount, rnrRetryCount, ackTimeout,
                this.minRnrTimer, resolveTimeoutMillis, trafficClass
        };
    }

    /** The one with this name, or {@code null}. */
    public IntOption find(ChannelOption<?> option) {
        return find(all, option);
    }

    /** The one with this name, or {@code null}. */
    public static IntOption find(IntOption[] options, ChannelOption<?> option) {
        for (IntOption candidate : options) {
            if (candidate.is(option)) {
                return candidate;
            }
        }
        return null;
    }

    /** Sets the options of an id that count before its route is resolved. */
    public void route(ConnectionId id) throws VerbsException {
        if (trafficClass.get() != 0) {
            id.setTypeOfService(trafficClass.get());
        }
    }

    /** The parameters for connecting or accepting, which is next. */
    public ConnectionParameters parameters(ConnectionId id, byte[] data) throws VerbsException {
        if (ackTimeout.get() != 0) {
            id.setAckTimeoutExponent(ackTimeout.get());
        }
        return new ConnectionParameters().privateData(data).retryCount(retryCount.get())
                .rnrRetryCount(rnrRetryCount.get());
    }

    /** Sets the options of a queue pair that is ready to send: the connection manager has no parameter for them. */
    public void connected(QueuePair queuePair) throws VerbsException {
        if (minRnrTimer.get() != 0) {
            queuePair.modify(new QueuePairAttributes().minRnrTimer(minRnrTimer.get()));
        }
    }
}
