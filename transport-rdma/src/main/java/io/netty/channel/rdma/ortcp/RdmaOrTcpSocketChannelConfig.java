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
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.internal.ObjectUtil;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The configuration of the carrier, and the options that were set, for a carrier that replaces it. Before there is a
 * carrier, it has the configuration of an RDMA channel, without a channel. Any thread.
 */
final class RdmaOrTcpSocketChannelConfig implements SocketChannelConfig {
    private final RdmaOrTcpSocketChannel channel;
    /** Options in the order in which they were set; {@code null} once the carrier is connected. */
    private Map<ChannelOption<?>, Object> set = new LinkedHashMap<>();
    private volatile SocketChannelConfig current;
    /** False if the current configuration has no channel, which would read. */
    private boolean hasChannel;
    private volatile boolean autoRead = true;
    /** Limit of all attempts together; each attempt has less. */
    private volatile int connectTimeoutMillis;
    /** 0 stands for a default that depends on the destination. */
    private volatile int rdmaConnectTimeoutMillis;
    private volatile int rememberMillis = ConnectPlan.Settings.DEFAULT_REMEMBER_MILLIS;
    private volatile RdmaOrTcpFailures failures = RdmaOrTcpFailures.shared();
    private volatile RdmaOrTcpRule rule;

    /** @param carrier or {@code null}. */
    RdmaOrTcpSocketChannelConfig(RdmaOrTcpSocketChannel channel, SocketChannel carrier, RdmaOrTcpRule rule) {
        this.channel = channel;
        hasChannel = carrier != null;
        current = hasChannel ? carrier.config() : RdmaSocketChannel.newConfig(channel);
        this.rule = rule;
        connectTimeoutMillis = current.getConnectTimeoutMillis();
    }

    /** The settings of a connect. Not after {@link #connected()}. */
    synchronized ConnectPlan.Settings settings() {
        return new ConnectPlan.Settings(connectTimeoutMillis, rdmaConnectTimeoutMillis, rememberMillis, failures, rule,
                set);
    }

    /** Sets the options so far on another carrier, as far as its class knows them. */
    synchronized void adopt(SocketChannelConfig next) {
        set.forEach((option, value) -> setUnchecked(next, option, value));
        next.setAutoRead(autoRead);
        current = next;
        hasChannel = true;
    }

    /** Forgets the options: the carrier is connected, and will not be replaced. */
    synchronized void connected() {
        set = null;
        current.setConnectTimeoutMillis(connectTimeoutMillis);
    }

    @SuppressWarnings("unchecked")
    private static boolean setUnchecked(SocketChannelConfig config, ChannelOption<?> option, Object value) {
        return config.setOption((ChannelOption<Object>) option, value);
    }

    @Override
    public synchronized Map<ChannelOption<?>, Object> getOptions() {
        Map<ChannelOption<?>, Object> options = new HashMap<>();
        if (set != null) {
            options.putAll(set);
        }
        options.putAll(current.getOptions());
        options.put(ChannelOption.AUTO_READ, autoRead);
        options.put(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectTimeoutMillis);
        options.put(RdmaOrTcpChannelOption.TRANSPORT_RULE, rule);
        options.put(RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS, rdmaConnectTimeoutMillis);
        options.put(RdmaOrTcpChannelOption.REMEMBER_MILLIS, rememberMillis);
        options.put(RdmaOrTcpChannelOption.FAILURES, failures);
        return options;
    }

    @Override
    public boolean setOptions(Map<ChannelOption<?>, ?> options) {
        ObjectUtil.checkNotNull(options, "options");
        boolean known = true;
        for (Map.Entry<ChannelOption<?>, ?> entry : options.entrySet()) {
            known &= setAny(entry.getKey(), entry.getValue());
        }
        return known;
    }

    @SuppressWarnings("unchecked")
    private boolean setAny(ChannelOption<?> option, Object value) {
        return setOption((ChannelOption<Object>) option, value);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T getOption(ChannelOption<T> option) {
        ObjectUtil.checkNotNull(option, "option");
        Object value;
        if (option == ChannelOption.AUTO_READ) {
            value = autoRead;
        } else if (option == ChannelOption.CONNECT_TIMEOUT_MILLIS) {
            value = connectTimeoutMillis;
        } else if (option == RdmaOrTcpChannelOption.TRANSPORT_RULE) {
            value = rule;
        } else if (option == RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS) {
            value = rdmaConnectTimeoutMillis;
        } else if (option == RdmaOrTcpChannelOption.REMEMBER_MILLIS) {
            value = rememberMillis;
        } else if (option == RdmaOrTcpChannelOption.FAILURES) {
            value = failures;
        } else {
            value = current.getOption(option);
            if (value == null) {
                value = whatWasSet(option);
            }
        }
        return (T) value;
    }

    private synchronized Object whatWasSet(ChannelOption<?> option) {
        return set == null ? null : set.get(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        ObjectUtil.checkNotNull(option, "option").validate(value);
        if (option == ChannelOption.AUTO_READ) {
            setAutoRead((Boolean) value);
        } else if (option == ChannelOption.CONNECT_TIMEOUT_MILLIS) {
            setConnectTimeoutMillis((Integer) value);
        } else if (option == RdmaOrTcpChannelOption.TRANSPORT_RULE) {
            rule = (RdmaOrTcpRule) value;
        } else if (option == RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS) {
            rdmaConnectTimeoutMillis = ObjectUtil.checkPositiveOrZero((Integer) value, option.name());
        } else if (option == RdmaOrTcpChannelOption.REMEMBER_MILLIS) {
            rememberMillis = ObjectUtil.checkPositiveOrZero((Integer) value, option.name());
        } else if (option == RdmaOrTcpChannelOption.FAILURES) {
            failures = (RdmaOrTcpFailures) value;
        } else {
            return setOnCurrent(option, value);
        }
        return true;
    }

    private synchronized boolean setOnCurrent(ChannelOption<?> option, Object value) {
        if (!setUnchecked(current, option, value) && !KnownOptions.isKnownToAConnection(option, value)) {
            return false;
        }
        if (set != null) {
            // The last one in the order, because some options limit each other.
            set.remove(option);
            set.put(option, value);
        }
        return true;
    }

    @Override
    public int getConnectTimeoutMillis() {
        return connectTimeoutMillis;
    }

    @Override
    public SocketChannelConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        this.connectTimeoutMillis = ObjectUtil.checkPositiveOrZero(connectTimeoutMillis, "connectTimeoutMillis");
        return this;
    }

    @Override
    public boolean isAutoRead() {
        return autoRead;
    }

    /** Sets it on the carrier as well. Only this channel's pipeline reads: see {@link RelayHandler#read}. */
    @Override
    public SocketChannelConfig setAutoRead(boolean autoRead) {
        boolean before;
        synchronized (this) {
            before = this.autoRead;
            this.autoRead = autoRead;
            if (hasChannel) {
                current.setAutoRead(autoRead);
            }
        }
        if (autoRead && !before) {
            channel.read();
        }
        return this;
    }

    private <T> SocketChannelConfig set(ChannelOption<T> option, T value) {
        setOnCurrent(option, value);
        return this;
    }

    @Override
    public boolean isTcpNoDelay() {
        return current.isTcpNoDelay();
    }

    @Override
    public SocketChannelConfig setTcpNoDelay(boolean tcpNoDelay) {
        return set(ChannelOption.TCP_NODELAY, tcpNoDelay);
    }

    @Override
    public int getSoLinger() {
        return current.getSoLinger();
    }

    @Override
    public SocketChannelConfig setSoLinger(int soLinger) {
        return set(ChannelOption.SO_LINGER, soLinger);
    }

    @Override
    public int getSendBufferSize() {
        return current.getSendBufferSize();
    }

    @Override
    public SocketChannelConfig setSendBufferSize(int sendBufferSize) {
        return set(ChannelOption.SO_SNDBUF, sendBufferSize);
    }

    @Override
    public int getReceiveBufferSize() {
        return current.getReceiveBufferSize();
    }

    @Override
    public SocketChannelConfig setReceiveBufferSize(int receiveBufferSize) {
        return set(ChannelOption.SO_RCVBUF, receiveBufferSize);
    }

    @Override
    public boolean isKeepAlive() {
        return current.isKeepAlive();
    }

    @Override
    public SocketChannelConfig setKeepAlive(boolean keepAlive) {
        return set(ChannelOption.SO_KEEPALIVE, keepAlive);
    }

    @Override
    public int getTrafficClass() {
        return current.getTrafficClass();
    }

    @Override
    public SocketChannelConfig setTrafficClass(int trafficClass) {
        return set(ChannelOption.IP_TOS, trafficClass);
    }

    @Override
    public boolean isReuseAddress() {
        return current.isReuseAddress();
    }

    @Override
    public SocketChannelConfig setReuseAddress(boolean reuseAddress) {
        return set(ChannelOption.SO_REUSEADDR, reuseAddress);
    }

    /** Without effect, as with all channels that may be connected. */
    @Override
    public SocketChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    @Override
    public boolean isAllowHalfClosure() {
        return current.isAllowHalfClosure();
    }

    @Override
    public SocketChannelConfig setAllowHalfClosure(boolean allowHalfClosure) {
        return set(ChannelOption.ALLOW_HALF_CLOSURE, allowHalfClosure);
    }

    @Override
    @Deprecated
    public int getMaxMessagesPerRead() {
        return current.getMaxMessagesPerRead();
    }

    @Override
    @Deprecated
    public SocketChannelConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        return set(ChannelOption.MAX_MESSAGES_PER_READ, maxMessagesPerRead);
    }

    @Override
    public int getWriteSpinCount() {
        return current.getWriteSpinCount();
    }

    @Override
    public SocketChannelConfig setWriteSpinCount(int writeSpinCount) {
        return set(ChannelOption.WRITE_SPIN_COUNT, writeSpinCount);
    }

    @Override
    public ByteBufAllocator getAllocator() {
        return current.getAllocator();
    }

    @Override
    public SocketChannelConfig setAllocator(ByteBufAllocator allocator) {
        return set(ChannelOption.ALLOCATOR, allocator);
    }

    @Override
    public <T extends RecvByteBufAllocator> T getRecvByteBufAllocator() {
        return current.getRecvByteBufAllocator();
    }

    @Override
    public SocketChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        return set(ChannelOption.RECVBUF_ALLOCATOR, allocator);
    }

    @Override
    public boolean isAutoClose() {
        return current.isAutoClose();
    }

    @Override
    public SocketChannelConfig setAutoClose(boolean autoClose) {
        return set(ChannelOption.AUTO_CLOSE, autoClose);
    }

    @Override
    public int getWriteBufferHighWaterMark() {
        return current.getWriteBufferHighWaterMark();
    }

    @Override
    @SuppressWarnings("deprecation") // the option, not the method
    public SocketChannelConfig setWriteBufferHighWaterMark(int writeBufferHighWaterMark) {
        return set(ChannelOption.WRITE_BUFFER_HIGH_WATER_MARK, writeBufferHighWaterMark);
    }

    @Override
    public int getWriteBufferLowWaterMark() {
        return current.getWriteBufferLowWaterMark();
    }

    @Override
    @SuppressWarnings("deprecation") // the option, not the method
    public SocketChannelConfig setWriteBufferLowWaterMark(int writeBufferLowWaterMark) {
        return set(ChannelOption.WRITE_BUFFER_LOW_WATER_MARK, writeBufferLowWaterMark);
    }

    @Override
    public WriteBufferWaterMark getWriteBufferWaterMark() {
        return current.getWriteBufferWaterMark();
    }

    @Override
    public SocketChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark writeBufferWaterMark) {
        return set(ChannelOption.WRITE_BUFFER_WATER_MARK, writeBufferWaterMark);
    }

    @Override
    public MessageSizeEstimator getMessageSizeEstimator() {
        return current.getMessageSizeEstimator();
    }

    @Override
    public SocketChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        return set(ChannelOption.MESSAGE_SIZE_ESTIMATOR, estimator);
    }
}
