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

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.rdma.connection.DeviceOptions;
import io.netty.channel.rdma.connection.OptionRow;
import io.netty.channel.rdma.connection.OptionTable;
import io.netty.channel.rdma.connection.OptionValues;
import io.netty.channel.rdma.connection.QueuePairOptions;
import io.netty.channel.rdma.connection.StreamOptions;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.NetUtil;

import java.util.Map;

import static io.netty.channel.ChannelOption.SO_BACKLOG;
import static io.netty.channel.ChannelOption.SO_RCVBUF;
import static io.netty.channel.ChannelOption.SO_REUSEADDR;

/** The configuration of a listening channel: see {@link AbstractRdmaServerChannel#config()}. */
final class RdmaServerSocketChannelConfig extends DefaultChannelConfig implements ServerSocketChannelConfig {
    private static final OptionRow<Integer> BACKLOG =
            OptionRow.number(SO_BACKLOG, NetUtil.SOMAXCONN, 0, Integer.MAX_VALUE);
    static final OptionTable TABLE = new OptionTable().add(QueuePairOptions.REUSE_ADDRESS, BACKLOG,
            OptionRow.number(SO_RCVBUF, StreamOptions.DEFAULT_RECEIVE_BUFFER_SIZE, 1, Integer.MAX_VALUE),
            QueuePairOptions.TRAFFIC_CLASS, new OptionRow<>(RdmaChannelOption.IPV6_ONLY, false))
            .addAll(DeviceOptions.ROWS);

    private final AbstractRdmaServerChannel<?> channel;
    private final OptionValues options = new OptionValues(TABLE);
    final DeviceOptions device = new DeviceOptions(options);

    RdmaServerSocketChannelConfig(AbstractRdmaServerChannel<?> channel) {
        super(channel, new ServerChannelRecvByteBufAllocator());
        this.channel = channel;
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

    private <T> RdmaServerSocketChannelConfig set(ChannelOption<T> option, T value) {
        options.set(option, value);
        return this;
    }

    @Override
    public int getBacklog() {
        return options.get(BACKLOG);
    }

    @Override
    public RdmaServerSocketChannelConfig setBacklog(int backlog) {
        return set(SO_BACKLOG, backlog);
    }

    @Override
    public boolean isReuseAddress() {
        return options.get(QueuePairOptions.REUSE_ADDRESS);
    }

    @Override
    public RdmaServerSocketChannelConfig setReuseAddress(boolean reuseAddress) {
        return set(SO_REUSEADDR, reuseAddress);
    }

    @Override
    public int getReceiveBufferSize() {
        return getOption(SO_RCVBUF);
    }

    @Override
    public RdmaServerSocketChannelConfig setReceiveBufferSize(int receiveBufferSize) {
        return set(SO_RCVBUF, receiveBufferSize);
    }

    /** Accepted and without effect, as with any channel that is not a {@code java.net.ServerSocket}. */
    @Override
    public RdmaServerSocketChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    @Override
    protected void autoReadCleared() {
        channel.autoReadCleared();
    }

    @Override
    public RdmaServerSocketChannelConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    @Deprecated
    public RdmaServerSocketChannelConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return this;
    }

    @Override
    public RdmaServerSocketChannelConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public RdmaServerSocketChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public RdmaServerSocketChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return this;
    }

    @Override
    public RdmaServerSocketChannelConfig setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public RdmaServerSocketChannelConfig setWriteBufferHighWaterMark(int writeBufferHighWaterMark) {
        super.setWriteBufferHighWaterMark(writeBufferHighWaterMark);
        return this;
    }

    @Override
    public RdmaServerSocketChannelConfig setWriteBufferLowWaterMark(int writeBufferLowWaterMark) {
        super.setWriteBufferLowWaterMark(writeBufferLowWaterMark);
        return this;
    }

    @Override
    public RdmaServerSocketChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark writeBufferWaterMark) {
        super.setWriteBufferWaterMark(writeBufferWaterMark);
        return this;
    }

    @Override
    public RdmaServerSocketChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }
}
