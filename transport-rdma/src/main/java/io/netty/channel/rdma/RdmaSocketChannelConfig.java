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

import io.netty.channel.ChannelOption;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.rdma.connection.LivenessOptions;
import io.netty.channel.rdma.connection.StreamOptions;
import io.netty.channel.socket.DefaultSocketChannelConfig;
import io.netty.channel.socket.SocketChannel;

import java.net.Socket;
import java.util.Map;

import static io.netty.channel.ChannelOption.ALLOW_HALF_CLOSURE;
import static io.netty.channel.ChannelOption.IP_TOS;
import static io.netty.channel.ChannelOption.SO_KEEPALIVE;
import static io.netty.channel.ChannelOption.SO_LINGER;
import static io.netty.channel.ChannelOption.SO_RCVBUF;
import static io.netty.channel.ChannelOption.SO_REUSEADDR;
import static io.netty.channel.ChannelOption.SO_SNDBUF;

/** The configuration of a {@link AbstractRdmaSocketChannel}: see {@link AbstractRdmaSocketChannel#config()}. */
final class RdmaSocketChannelConfig extends DefaultSocketChannelConfig {
    /** A socket for the superclass, never used: each method that would use it is overridden. It has no descriptor. */
    private static final Socket NO_SOCKET = new Socket();

    /** {@code null} if the channel is not made yet. */
    private final AbstractRdmaSocketChannel rdmaChannel;
    final StreamOptions options = new StreamOptions();
    private final RecvByteBufAllocator firstReceiveAllocator;

    RdmaSocketChannelConfig(SocketChannel channel) {
        super(channel, NO_SOCKET);
        rdmaChannel = channel instanceof AbstractRdmaSocketChannel ? (AbstractRdmaSocketChannel) channel : null;
        firstReceiveAllocator = super.getRecvByteBufAllocator();
        super.setAllocator(RdmaByteBufAllocator.DEFAULT);
        super.setWriteBufferWaterMark(new WriteBufferWaterMark(256 << 10, 512 << 10));
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), options.values.all());
    }

    @Override
    public <T> T getOption(ChannelOption<T> option) {
        return options.values.has(option) ? options.values.get(option) : super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        try {
            validate(option, value);
            if (!options.values.set(option, value)) {
                return super.setOption(option, value);
            }
        } catch (RuntimeException e) {
            if (rdmaChannel != null) {
                rdmaChannel.misused(e);
            }
            throw e;
        }
        if (rdmaChannel != null && LivenessOptions.has(option)) {
            rdmaChannel.livenessChanged();
        }
        return true;
    }

    private <T> RdmaSocketChannelConfig set(ChannelOption<T> option, T value) {
        options.values.set(option, value);
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return getOption(SO_RCVBUF);
    }

    /**
     * Takes any positive size, like a socket, and rounds it: up to at least 4096 bytes and to a power of two, down to
     * at most 256 MiB.
     */
    @Override
    public RdmaSocketChannelConfig setReceiveBufferSize(int receiveBufferSize) {
        return set(SO_RCVBUF, receiveBufferSize);
    }

    /** {@link Integer#MAX_VALUE}, the default, means that only the peer's receive buffer is a bound. */
    @Override
    public int getSendBufferSize() {
        return getOption(SO_SNDBUF);
    }

    @Override
    public RdmaSocketChannelConfig setSendBufferSize(int sendBufferSize) {
        return set(SO_SNDBUF, sendBufferSize);
    }

    @Override
    public boolean isTcpNoDelay() {
        return true;
    }

    /** Accepted and without effect. */
    @Override
    public RdmaSocketChannelConfig setTcpNoDelay(boolean tcpNoDelay) {
        return this;
    }

    @Override
    public int getSoLinger() {
        return getOption(SO_LINGER);
    }

    @Override
    public RdmaSocketChannelConfig setSoLinger(int soLinger) {
        return set(SO_LINGER, soLinger);
    }

    @Override
    public boolean isKeepAlive() {
        return getOption(SO_KEEPALIVE);
    }

    @Override
    public RdmaSocketChannelConfig setKeepAlive(boolean keepAlive) {
        setOption(SO_KEEPALIVE, keepAlive);
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return getOption(SO_REUSEADDR);
    }

    @Override
    public RdmaSocketChannelConfig setReuseAddress(boolean reuseAddress) {
        return set(SO_REUSEADDR, reuseAddress);
    }

    @Override
    public int getTrafficClass() {
        return getOption(IP_TOS);
    }

    @Override
    public RdmaSocketChannelConfig setTrafficClass(int trafficClass) {
        return set(IP_TOS, trafficClass);
    }

    @Override
    public boolean isAllowHalfClosure() {
        return getOption(ALLOW_HALF_CLOSURE);
    }

    @Override
    public RdmaSocketChannelConfig setAllowHalfClosure(boolean allowHalfClosure) {
        return set(ALLOW_HALF_CLOSURE, allowHalfClosure);
    }

    /** Accepted and without effect, as with any channel that is not a {@code java.net.Socket}. */
    @Override
    public RdmaSocketChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    @Override
    protected void autoReadCleared() {
        if (rdmaChannel != null) {
            rdmaChannel.autoReadCleared();
        }
    }

    /** Returns whether the application has set another receive allocator. */
    boolean isReceiveAllocatorSet() {
        return getRecvByteBufAllocator() != firstReceiveAllocator;
    }
}
