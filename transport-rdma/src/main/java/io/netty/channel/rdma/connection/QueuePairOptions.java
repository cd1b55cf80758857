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

import java.util.List;

/**
 * The options of channels that have a queue pair: the depth of the queues, the retries of the device, and the making of
 * the connection. Datagram channels take only some of them. Sets each on the connection manager or the device when it
 * is needed.
 *
 * <p>Any thread.
 */
public final class QueuePairOptions {
    public static final OptionRow<Integer> SEND_QUEUE_DEPTH = OptionRow.number("SEND_QUEUE_DEPTH", 256, 16, 32768);
    public static final OptionRow<Integer> RECEIVE_QUEUE_DEPTH =
            OptionRow.number("RECEIVE_QUEUE_DEPTH", 256, 16, 32768);
    public static final OptionRow<Integer> MAX_INLINE = OptionRow.number("MAX_INLINE", 64, 0, 1024);
    /** Only message channels have this option in their table; for others it is 0. */
    public static final OptionRow<Integer> MAX_INLINE_RECEIVE = OptionRow.number("MAX_INLINE_RECEIVE", 0, 0, 1024);
    public static final OptionRow<Integer> RETRY_COUNT = OptionRow.number("RETRY_COUNT", 6, 0, 7);
    public static final OptionRow<Integer> RNR_RETRY_COUNT = OptionRow.number("RNR_RETRY_COUNT", 7, 0, 7);
    public static final OptionRow<Integer> ACK_TIMEOUT = OptionRow.number("ACK_TIMEOUT", 0, 0, 31);
    public static final OptionRow<Integer> MIN_RNR_TIMER = OptionRow.number("MIN_RNR_TIMER", 0, 0, 31);
    public static final OptionRow<Integer> RESOLVE_TIMEOUT_MILLIS =
            OptionRow.number("RESOLVE_TIMEOUT_MILLIS", 60_000, 1, 3_600_000);
    public static final OptionRow<Integer> TRAFFIC_CLASS = OptionRow.number(ChannelOption.IP_TOS, 0, 0, 255);
    public static final OptionRow<Boolean> REUSE_ADDRESS = new OptionRow<>(ChannelOption.SO_REUSEADDR, false);
    /** The options of channels that connect. */
    public static final List<OptionRow<?>> ROWS = List.of(SEND_QUEUE_DEPTH, RECEIVE_QUEUE_DEPTH, MAX_INLINE,
            RETRY_COUNT, RNR_RETRY_COUNT, ACK_TIMEOUT, MIN_RNR_TIMER, RESOLVE_TIMEOUT_MILLIS, TRAFFIC_CLASS,
            REUSE_ADDRESS);

    public final DeviceOptions device;
    final OptionValues values;

    public QueuePairOptions(OptionValues values) {
        this.values = values;
        device = new DeviceOptions(values);
    }

    public <T> T get(OptionRow<T> row) {
        return values.get(row);
    }

    /** Sets the options of an id that must be set before its route is resolved. */
    public void route(ConnectionId id) throws VerbsException {
        if (get(TRAFFIC_CLASS) != 0) {
            id.setTypeOfService(get(TRAFFIC_CLASS));
        }
    }

    /** The parameters for connecting or accepting. Also sets the options of the id that must be set before that. */
    public ConnectionParameters parameters(ConnectionId id, byte[] data) throws VerbsException {
        if (get(ACK_TIMEOUT) != 0) {
            id.setAckTimeoutExponent(get(ACK_TIMEOUT));
        }
        return new ConnectionParameters().privateData(data).retryCount(get(RETRY_COUNT))
                .rnrRetryCount(get(RNR_RETRY_COUNT));
    }

    /** Sets the options for which the connection manager has no parameter, on a queue pair that is ready to send. */
    public void connected(QueuePair queuePair) throws VerbsException {
        if (get(MIN_RNR_TIMER) != 0) {
            queuePair.modify(new QueuePairAttributes().minRnrTimer(get(MIN_RNR_TIMER)));
        }
    }
}
