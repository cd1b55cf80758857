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
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.rdma.connection.StreamOptions;
import io.netty.channel.socket.SocketChannelConfig;

import java.util.Map;

import static io.netty.channel.ChannelOption.ALLOW_HALF_CLOSURE;
import static io.netty.channel.ChannelOption.IP_TOS;
import static io.netty.channel.ChannelOption.SO_KEEPALIVE;
import static io.netty.channel.ChannelOption.SO_LINGER;
import static io.netty.channel.ChannelOption.SO_RCVBUF;
import static io.netty.channel.ChannelOption.SO_REUSEADDR;
import static io.netty.channel.ChannelOption.SO_SNDBUF;

/**
 * The configuration of a {@link RdmaSocketChannel}. Beside the options of {@link RdmaChannelOption} it takes those of
 * a TCP socket channel, with these meanings:
 *
 * <table>
 * <caption>Options of TCP</caption>
 * <tr><td>{@link ChannelOption#SO_RCVBUF}</td><td>the most bytes of registered memory that the peer may write
 *     to: at least 1, rounded to a power of two of 4096 to 256 MiB. Default 1 MiB. It starts with 64 KiB, grows with
 *     use and shrinks when it is not used: see {@link RdmaChannelOption#RECEIVE_BUFFER_IDLE_MILLIS}. Read when the
 *     connection is made.</td></tr>
 * <tr><td>{@link ChannelOption#SO_SNDBUF}</td><td>the most bytes in flight to the peer (at least one work request
 *     goes out whatever its size), and the most that a closed channel leaves to be sent, by default 4 MiB</td></tr>
 * <tr><td>{@link ChannelOption#RECVBUF_ALLOCATOR}</td><td>the most bytes that a read gives are what its handle
 *     guesses, and how many reads there are in a turn of the event loop is its decision. The default allocates nothing
 *     here and bounds no read; another one does, also another {@code AdaptiveRecvByteBufAllocator}.</td></tr>
 * <tr><td>{@link ChannelOption#SO_LINGER}</td><td>0: closing resets the connection. More: the most seconds that a close
 *     waits until what was flushed before has arrived; -1, the default, as 3. What has not arrived by then is still
 *     sent as far as a socket's buffer would have taken it: see <i>The end of a connection</i> in the package
 *     description.</td></tr>
 * <tr><td>{@link ChannelOption#SO_KEEPALIVE}</td><td>an idle connection is tested with an empty RDMA write: see
 *     {@link RdmaChannelOption#KEEP_ALIVE_IDLE_MILLIS}. Default false.</td></tr>
 * <tr><td>{@code EpollChannelOption.TCP_KEEPIDLE}, {@code TCP_KEEPINTVL}, {@code TCP_KEEPCNT}, {@code TCP_USER_TIMEOUT}
 *     </td><td>the same as {@link RdmaChannelOption#KEEP_ALIVE_IDLE_MILLIS},
 *     {@link RdmaChannelOption#KEEP_ALIVE_INTERVAL_MILLIS} (both in seconds),
 *     {@link RdmaChannelOption#KEEP_ALIVE_COUNT} and {@link RdmaChannelOption#USER_TIMEOUT_MILLIS}</td></tr>
 * <tr><td>{@link ChannelOption#SO_REUSEADDR}</td><td>given to the RDMA connection manager when the address is bound
 *     or connected</td></tr>
 * <tr><td>{@link ChannelOption#IP_TOS}</td><td>the traffic class of all packets of the connection ({@code
 *     RDMA_OPTION_ID_TOS}), 0 to 255. Set it on the client: the route, which its connect request carries, has it for
 *     both directions.</td></tr>
 * <tr><td>{@link ChannelOption#TCP_NODELAY}</td><td>always true: nothing is ever delayed</td></tr>
 * </table>
 *
 * The allocator is {@link RdmaByteBufAllocator#DEFAULT}. The write buffer water marks are higher than TCP's (256 KiB
 * and 512 KiB), since bytes count until the device has delivered them, not only until a socket buffer took them.
 */
public final class RdmaSocketChannelConfig extends DefaultChannelConfig implements SocketChannelConfig {
    private final RdmaSocketChannel channel;
    private final StreamOptions options = new StreamOptions();
    private final RecvByteBufAllocator firstReceiveAllocator;

    RdmaSocketChannelConfig(RdmaSocketChannel channel) {
        super(channel);
        this.channel = channel;
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
            channel.misused(e);
            throw e;
        }
        if (StreamOptions.isLiveness(option)) {
            channel.livenessChanged();
        }
        return true;
    }

    private <T> RdmaSocketChannelConfig set(ChannelOption<T> option, T value) {
        options.values.set(option, value);
        return this;
    }

    StreamOptions options() {
        return options;
    }

    @Override
    public int getReceiveBufferSize() {
        return getOption(SO_RCVBUF);
    }

    /**
     * Like a socket, this takes any positive size and rounds it: up to at least 4096 bytes and to a power of two,
     * down to at most 256 MiB.
     */
    @Override
    public RdmaSocketChannelConfig setReceiveBufferSize(int receiveBufferSize) {
        return set(SO_RCVBUF, receiveBufferSize);
    }

    /**
     * {@link Integer#MAX_VALUE}, the default, stands for no bound beside the peer's receive buffer.
     */
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

    /**
     * Accepted and without effect.
     */
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

    /**
     * Accepted and without effect, as with any channel that is not a {@code java.net.Socket}.
     */
    @Override
    public RdmaSocketChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    @Override
    protected void autoReadCleared() {
        channel.autoReadCleared();
    }

    @Override
    public RdmaSocketChannelConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    @Deprecated
    public RdmaSocketChannelConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return this;
    }

    @Override
    public RdmaSocketChannelConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public RdmaSocketChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public RdmaSocketChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return this;
    }

    /** Returns whether the receive allocator is another one than at first. */
    boolean isReceiveAllocatorSet() {
        return getRecvByteBufAllocator() != firstReceiveAllocator;
    }

    @Override
    public RdmaSocketChannelConfig setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public RdmaSocketChannelConfig setAutoClose(boolean autoClose) {
        super.setAutoClose(autoClose);
        return this;
    }

    @Override
    @Deprecated
    public RdmaSocketChannelConfig setWriteBufferHighWaterMark(int writeBufferHighWaterMark) {
        super.setWriteBufferHighWaterMark(writeBufferHighWaterMark);
        return this;
    }

    @Override
    @Deprecated
    public RdmaSocketChannelConfig setWriteBufferLowWaterMark(int writeBufferLowWaterMark) {
        super.setWriteBufferLowWaterMark(writeBufferLowWaterMark);
        return this;
    }

    @Override
    public RdmaSocketChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark writeBufferWaterMark) {
        super.setWriteBufferWaterMark(writeBufferWaterMark);
        return this;
    }

    @Override
    public RdmaSocketChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }
}
