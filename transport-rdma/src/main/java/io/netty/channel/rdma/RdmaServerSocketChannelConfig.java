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
import io.netty.channel.rdma.connection.OptionRange;
import io.netty.channel.rdma.connection.StreamOptions;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.NetUtil;

import java.util.Map;

import static io.netty.channel.ChannelOption.IP_TOS;
import static io.netty.channel.ChannelOption.SO_BACKLOG;
import static io.netty.channel.ChannelOption.SO_RCVBUF;
import static io.netty.channel.ChannelOption.SO_REUSEADDR;

/**
 * The configuration of a listening channel: {@link RdmaServerSocketChannel}, and that of messages. {@link
 * ChannelOption#SO_BACKLOG} bounds the connections of one peer that are not established, or that the channel has not
 * read; those of all peers may be twice as many. Further ones are rejected. {@link ChannelOption#SO_REUSEADDR} and
 * {@link ChannelOption#IP_TOS} are given to the RDMA connection manager when the address is bound, and so is {@link
 * RdmaChannelOption#IPV6_ONLY}. {@link RdmaChannelOption#DEVICE},
 * {@link RdmaChannelOption#DEVICE_PORT} and {@link RdmaChannelOption#GID_INDEX} choose the address that stands for the
 * wildcard. {@link ChannelOption#SO_RCVBUF} is accepted, and set for each connection with {@code childOption}.
 */
public final class RdmaServerSocketChannelConfig extends DefaultChannelConfig implements ServerSocketChannelConfig {
    private final AbstractRdmaServerChannel<?> channel;
    private final DeviceOptions device = new DeviceOptions();
    private volatile int backlog = NetUtil.SOMAXCONN;
    private volatile boolean reuseAddress;
    private volatile int trafficClass;
    private volatile boolean ipv6Only;
    private volatile int receiveBufferSize = StreamOptions.DEFAULT_RECEIVE_BUFFER_SIZE;

    RdmaServerSocketChannelConfig(AbstractRdmaServerChannel<?> channel) {
        super(channel, new ServerChannelRecvByteBufAllocator());
        this.channel = channel;
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), SO_RCVBUF, SO_REUSEADDR, SO_BACKLOG, IP_TOS,
                RdmaChannelOption.IPV6_ONLY, RdmaChannelOption.PROVIDERS, RdmaChannelOption.DEVICE,
                RdmaChannelOption.DEVICE_PORT, RdmaChannelOption.GID_INDEX);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T getOption(ChannelOption<T> option) {
        Object value;
        if (option == SO_RCVBUF) {
            value = receiveBufferSize;
        } else if (option == SO_REUSEADDR) {
            value = reuseAddress;
        } else if (option == SO_BACKLOG) {
            value = backlog;
        } else if (option == IP_TOS) {
            value = trafficClass;
        } else if (option == RdmaChannelOption.IPV6_ONLY) {
            value = ipv6Only;
        } else {
            value = device.get(option);
            if (value == null) {
                return super.getOption(option);
            }
        }
        return (T) value;
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        validate(option, value);
        if (option == SO_RCVBUF) {
            setReceiveBufferSize((Integer) value);
        } else if (option == SO_REUSEADDR) {
            setReuseAddress((Boolean) value);
        } else if (option == SO_BACKLOG) {
            setBacklog((Integer) value);
        } else if (option == IP_TOS) {
            trafficClass = OptionRange.check(option, (Integer) value, 0, 255);
        } else if (option == RdmaChannelOption.IPV6_ONLY) {
            setIpv6Only((Boolean) value);
        } else if (!device.set(option, value)) {
            return super.setOption(option, value);
        }
        return true;
    }

    DeviceOptions device() {
        return device;
    }

    int trafficClass() {
        return trafficClass;
    }

    /** See {@link RdmaChannelOption#IPV6_ONLY}. */
    public boolean isIpv6Only() {
        return ipv6Only;
    }

    /** See {@link RdmaChannelOption#IPV6_ONLY}. */
    public RdmaServerSocketChannelConfig setIpv6Only(boolean ipv6Only) {
        this.ipv6Only = ipv6Only;
        return this;
    }

    @Override
    public int getBacklog() {
        return backlog;
    }

    @Override
    public RdmaServerSocketChannelConfig setBacklog(int backlog) {
        this.backlog = OptionRange.check(SO_BACKLOG, backlog, 0, Integer.MAX_VALUE);
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return reuseAddress;
    }

    @Override
    public RdmaServerSocketChannelConfig setReuseAddress(boolean reuseAddress) {
        this.reuseAddress = reuseAddress;
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return receiveBufferSize;
    }

    @Override
    public RdmaServerSocketChannelConfig setReceiveBufferSize(int receiveBufferSize) {
        this.receiveBufferSize = OptionRange.check(SO_RCVBUF, receiveBufferSize, 1, Integer.MAX_VALUE);
        return this;
    }

    /**
     * Accepted and without effect, as with any channel that is not a {@code java.net.ServerSocket}.
     */
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
