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
import io.netty.channel.rdma.connection.IntOption;
import io.netty.channel.rdma.connection.QueuePairOptions;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.RdmaChannelOption;

import java.util.Map;

import static io.netty.channel.ChannelOption.IP_TOS;
import static io.netty.channel.ChannelOption.SO_LINGER;
import static io.netty.channel.ChannelOption.SO_REUSEADDR;

/**
 * The configuration of a {@link RdmaDatagramChannel}. Beside those of any channel it takes these options of {@link
 * RdmaChannelOption}, with other defaults where one is given here:
 *
 * <ul>
 * <li>queue pair: {@code SEND_QUEUE_DEPTH}, {@code RECEIVE_QUEUE_DEPTH} (default 128: what comes while so many
 *     datagrams have not been read is lost), {@code MAX_INLINE}, {@code MAX_SEND_SGES};</li>
 * <li>addresses: {@code ADDRESS_TTL_MILLIS}, {@code RESOLVE_TIMEOUT_MILLIS}, {@code DEVICE}, {@code DEVICE_PORT},
 *     {@code GID_INDEX};</li>
 * <li>of {@link ChannelOption}: {@code CONNECT_TIMEOUT_MILLIS}: how long it may take in all to find out which queue
 *     pair receives the datagrams for an address (default 5000); {@code IP_TOS}, {@code SO_REUSEADDR}, and {@code
 *     SO_LINGER}: the most seconds that a close waits until what was flushed before is sent; -1, the default, as
 *     3.</li>
 * </ul>
 * Those of the queue pair are read when the channel is bound.
 */
public final class RdmaDatagramChannelConfig extends DefaultChannelConfig {
    private static final int CONNECT_TIMEOUT_MILLIS = 5_000;

    final IntOption maxSendSges = new IntOption(RdmaChannelOption.MAX_SEND_SGES, 16, 1, 256);
    final IntOption addressTtlMillis = new IntOption(RdmaChannelOption.ADDRESS_TTL_MILLIS, 30_000, 1, 86_400_000);
    private final IntOption soLinger = new IntOption(SO_LINGER, -1, -1, Integer.MAX_VALUE);
    private final QueuePairOptions queuePair = new QueuePairOptions(128, 0);
    private final IntOption[] options = {
            queuePair.sendQueueDepth, queuePair.receiveQueueDepth, queuePair.maxInline, maxSendSges, addressTtlMillis,
            queuePair.resolveTimeoutMillis, queuePair.trafficClass, soLinger
    };
    private final RdmaDatagramChannel channel;
    private volatile boolean reuseAddress;

    RdmaDatagramChannelConfig(RdmaDatagramChannel channel) {
        // Datagrams of any length, also none, count as one each.
        super(channel, new ServerChannelRecvByteBufAllocator());
        this.channel = channel;
        setAllocator(RdmaByteBufAllocator.DEFAULT);
        setConnectTimeoutMillis(CONNECT_TIMEOUT_MILLIS);
        setWriteBufferWaterMark(new WriteBufferWaterMark(256 << 10, 512 << 10));
    }

    QueuePairOptions queuePair() {
        return queuePair;
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), SO_REUSEADDR, SO_LINGER, IP_TOS, RdmaChannelOption.SEND_QUEUE_DEPTH,
                RdmaChannelOption.RECEIVE_QUEUE_DEPTH, RdmaChannelOption.MAX_INLINE, RdmaChannelOption.MAX_SEND_SGES,
                RdmaChannelOption.ADDRESS_TTL_MILLIS, RdmaChannelOption.RESOLVE_TIMEOUT_MILLIS,
                RdmaChannelOption.PROVIDERS, RdmaChannelOption.DEVICE, RdmaChannelOption.DEVICE_PORT,
                RdmaChannelOption.GID_INDEX);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T getOption(ChannelOption<T> option) {
        if (option == SO_REUSEADDR) {
            return (T) Boolean.valueOf(isReuseAddress());
        }
        Object ofDevice = queuePair.device.get(option);
        if (ofDevice != null) {
            return (T) ofDevice;
        }
        IntOption found = QueuePairOptions.find(options, option);
        return found == null ? super.getOption(option) : (T) Integer.valueOf(found.get());
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        validate(option, value);
        if (option == SO_REUSEADDR) {
            setReuseAddress((Boolean) value);
            return true;
        }
        if (queuePair.device.set(option, value)) {
            return true;
        }
        IntOption found = QueuePairOptions.find(options, option);
        if (found == null) {
            return super.setOption(option, value);
        }
        found.set((Integer) value);
        return true;
    }

    public boolean isReuseAddress() {
        return reuseAddress;
    }

    public RdmaDatagramChannelConfig setReuseAddress(boolean reuseAddress) {
        this.reuseAddress = reuseAddress;
        return this;
    }

    int getSoLinger() {
        return soLinger.get();
    }

    @Override
    protected void autoReadCleared() {
        channel.readingStopped();
    }
}
