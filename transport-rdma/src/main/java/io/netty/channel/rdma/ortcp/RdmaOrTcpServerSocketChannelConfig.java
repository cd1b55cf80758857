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
package io.netty.channel.rdma.ortcp;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.rdma.connection.StreamOptions;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.NetUtil;
import io.netty.util.internal.ObjectUtil;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Options for the listeners. Each listener gets those that its class knows. Any thread.
 */
final class RdmaOrTcpServerSocketChannelConfig extends DefaultChannelConfig implements ServerSocketChannelConfig {
    /** Options in the order in which they were set. */
    private final Map<ChannelOption<?>, Object> set = new LinkedHashMap<>();
    private volatile List<ServerSocketChannelConfig> listeners = List.of();
    private volatile RdmaOrTcpRule rule;
    private volatile Map<ChannelOption<?>, Object> childOptions = Map.of();

    RdmaOrTcpServerSocketChannelConfig(RdmaOrTcpServerSocketChannel channel, RdmaOrTcpRule rule) {
        super(channel, new ServerChannelRecvByteBufAllocator());
        this.rule = rule;
    }

    RdmaOrTcpRule rule() {
        return rule;
    }

    Map<ChannelOption<?>, Object> childOptions() {
        return childOptions;
    }

    /** Sets the options so far on a listener that is to be bound. */
    synchronized void adopt(ServerSocketChannelConfig listener) {
        set.forEach((option, value) -> setUnchecked(listener, option, value));
        listener.setAutoRead(isAutoRead());
    }

    /** Adds listeners, on which later options are set as well. */
    void listeners(List<ServerSocketChannelConfig> newListeners) {
        listeners = List.copyOf(newListeners);
    }

    @SuppressWarnings("unchecked")
    private static boolean setUnchecked(ServerSocketChannelConfig config, ChannelOption<?> option, Object value) {
        return config.setOption((ChannelOption<Object>) option, value);
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        Map<ChannelOption<?>, Object> options = new HashMap<>();
        synchronized (this) {
            options.putAll(set);
        }
        for (ServerSocketChannelConfig listener : listeners) {
            options.putAll(listener.getOptions());
        }
        options.putAll(super.getOptions());
        options.put(RdmaOrTcpChannelOption.TRANSPORT_RULE, rule);
        options.put(RdmaOrTcpChannelOption.CHILD_OPTIONS, childOptions);
        return options;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T getOption(ChannelOption<T> option) {
        ObjectUtil.checkNotNull(option, "option");
        if (option == RdmaOrTcpChannelOption.TRANSPORT_RULE) {
            return (T) rule;
        }
        if (option == RdmaOrTcpChannelOption.CHILD_OPTIONS) {
            return (T) childOptions;
        }
        T value = super.getOption(option);
        for (ServerSocketChannelConfig listener : listeners) {
            if (value == null) {
                value = listener.getOption(option);
            }
        }
        return value == null ? whatWasSet(option) : value;
    }

    @SuppressWarnings("unchecked")
    private synchronized <T> T whatWasSet(ChannelOption<T> option) {
        return (T) set.get(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        validate(option, value);
        if (option == RdmaOrTcpChannelOption.TRANSPORT_RULE) {
            rule = (RdmaOrTcpRule) value;
            return true;
        }
        if (option == RdmaOrTcpChannelOption.CHILD_OPTIONS) {
            childOptions = copy((Map<?, ?>) value);
            return true;
        }
        return super.setOption(option, value) || setOnListeners(option, value);
    }

    private static Map<ChannelOption<?>, Object> copy(Map<?, ?> options) {
        Map<ChannelOption<?>, Object> copy = new LinkedHashMap<>();
        options.forEach((option, value) -> copy.put((ChannelOption<?>) option, value));
        return copy;
    }

    private synchronized boolean setOnListeners(ChannelOption<?> option, Object value) {
        if (!KnownOptions.isKnownToAListener(option, value)) {
            return false;
        }
        for (ServerSocketChannelConfig listener : listeners) {
            setUnchecked(listener, option, value);
        }
        // The last one in the order, because some options limit each other.
        set.remove(option);
        set.put(option, value);
        return true;
    }

    @Override
    protected void autoReadCleared() {
        listeners.forEach(listener -> listener.setAutoRead(false));
    }

    /** The listeners need the same value, because their read loops check it. */
    @Override
    public ServerSocketChannelConfig setAutoRead(boolean autoRead) {
        listeners.forEach(listener -> listener.setAutoRead(autoRead));
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public int getBacklog() {
        Integer backlog = getOption(ChannelOption.SO_BACKLOG);
        return backlog == null ? NetUtil.SOMAXCONN : backlog;
    }

    @Override
    public ServerSocketChannelConfig setBacklog(int backlog) {
        setOption(ChannelOption.SO_BACKLOG, backlog);
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return Boolean.TRUE.equals(getOption(ChannelOption.SO_REUSEADDR));
    }

    @Override
    public ServerSocketChannelConfig setReuseAddress(boolean reuseAddress) {
        setOption(ChannelOption.SO_REUSEADDR, reuseAddress);
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        Integer size = getOption(ChannelOption.SO_RCVBUF);
        return size == null ? StreamOptions.DEFAULT_RECEIVE_BUFFER_SIZE : size;
    }

    @Override
    public ServerSocketChannelConfig setReceiveBufferSize(int receiveBufferSize) {
        setOption(ChannelOption.SO_RCVBUF, receiveBufferSize);
        return this;
    }

    /** Without effect, as with all channels that may listen. */
    @Override
    public ServerSocketChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    @Override
    public ServerSocketChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        if (listeners != null) { // The listeners are null in the constructor of the base class.
            setOnListeners(ChannelOption.RECVBUF_ALLOCATOR, allocator);
        }
        return this;
    }

    @Override
    @Deprecated
    public ServerSocketChannelConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        setOnListeners(ChannelOption.MAX_MESSAGES_PER_READ, maxMessagesPerRead);
        return this;
    }

    @Override
    public ServerSocketChannelConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    public ServerSocketChannelConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public ServerSocketChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public ServerSocketChannelConfig setWriteBufferHighWaterMark(int writeBufferHighWaterMark) {
        super.setWriteBufferHighWaterMark(writeBufferHighWaterMark);
        return this;
    }

    @Override
    public ServerSocketChannelConfig setWriteBufferLowWaterMark(int writeBufferLowWaterMark) {
        super.setWriteBufferLowWaterMark(writeBufferLowWaterMark);
        return this;
    }

    @Override
    public ServerSocketChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark writeBufferWaterMark) {
        super.setWriteBufferWaterMark(writeBufferWaterMark);
        return this;
    }

    @Override
    public ServerSocketChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }
}
