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

import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.rdma.connection.DeviceOptions;
import io.netty.channel.rdma.connection.OptionRow;
import io.netty.channel.rdma.connection.OptionTable;
import io.netty.channel.rdma.connection.OptionValues;
import io.netty.channel.rdma.connection.QueuePairOptions;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.RdmaChannelOption;

import java.util.Map;

/** The configuration of a {@link RdmaDatagramChannel}: see {@link RdmaDatagramChannel#config()}. */
final class RdmaDatagramChannelConfig extends DefaultChannelConfig {
    private static final int CONNECT_TIMEOUT_MILLIS = 5_000;

    static final OptionRow<Integer> ADDRESS_TTL_MILLIS =
            OptionRow.number(RdmaChannelOption.ADDRESS_TTL_MILLIS, 30_000, 1, 86_400_000);
    static final OptionTable TABLE = new OptionTable().add(QueuePairOptions.REUSE_ADDRESS,
            RdmaMessageChannelConfig.LINGER, QueuePairOptions.TRAFFIC_CLASS, QueuePairOptions.SEND_QUEUE_DEPTH)
            .addWithDefault(QueuePairOptions.RECEIVE_QUEUE_DEPTH, 128)
            .add(QueuePairOptions.MAX_INLINE, RdmaMessageChannelConfig.MAX_SEND_SGES, ADDRESS_TTL_MILLIS,
                    QueuePairOptions.RESOLVE_TIMEOUT_MILLIS)
            .addAll(DeviceOptions.ROWS);

    private final RdmaDatagramChannel channel;
    private final OptionValues options = new OptionValues(TABLE);
    final QueuePairOptions queuePair = new QueuePairOptions(options);

    RdmaDatagramChannelConfig(RdmaDatagramChannel channel) {
        // Datagrams of any length, also none, count as one each.
        super(channel, new ServerChannelRecvByteBufAllocator());
        this.channel = channel;
        setAllocator(RdmaByteBufAllocator.DEFAULT);
        setConnectTimeoutMillis(CONNECT_TIMEOUT_MILLIS);
        setWriteBufferWaterMark(new WriteBufferWaterMark(256 << 10, 512 << 10));
    }

    <T> T get(OptionRow<T> row) {
        return options.get(row);
    }

    int getSoLinger() {
        return options.get(RdmaMessageChannelConfig.LINGER);
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), options.all());
    }

    @Override
    public <T> T getOption(ChannelOption<T> option) {
        return options.has(option) ? options.get(option) : super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        validate(option, value);
        return options.set(option, value) || super.setOption(option, value);
    }

    @Override
    protected void autoReadCleared() {
        channel.readingStopped();
    }
}
