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
import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.rdma.connection.IntOption;
import io.netty.channel.rdma.connection.QueuePairOptions;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

import static io.netty.channel.ChannelOption.IP_TOS;
import static io.netty.channel.ChannelOption.SO_LINGER;
import static io.netty.channel.ChannelOption.SO_REUSEADDR;

/**
 * The configuration of a {@link RdmaMessageChannel}. Beside those of any channel it takes these options of {@link
 * RdmaChannelOption}, with other defaults where one is given here:
 *
 * <ul>
 * <li>queue pair: {@code SEND_QUEUE_DEPTH}, {@code RECEIVE_QUEUE_DEPTH} (default 64), {@code MAX_INLINE}, {@code
 *     MAX_SEND_SGES}, {@code RECEIVE_BUFFER_SIZE}, {@code SHARED_RECEIVE_QUEUE}, {@code MAX_UNREAD_MESSAGES}, {@code
 *     MAX_INLINE_RECEIVE}, {@code MANUAL_RECEIVES}, {@code MAX_RECEIVE_SGES}, {@code INITIATOR_DEPTH}, {@code
 *     RESPONDER_RESOURCES}, {@code REMOTE_PERMISSIONS};</li>
 * <li>retries: {@code RETRY_COUNT}, {@code RNR_RETRY_COUNT}, {@code ACK_TIMEOUT}, {@code MIN_RNR_TIMER} (default 12:
 *     0.64 milliseconds, since a sender may well find no receive posted here);</li>
 * <li>connecting: {@code RESOLVE_TIMEOUT_MILLIS}, {@code CONNECT_DATA}, {@code DEVICE}, {@code DEVICE_PORT}, {@code
 *     GID_INDEX}, {@code SERVICE_LEVEL};</li>
 * <li>of {@link ChannelOption}: {@code CONNECT_TIMEOUT_MILLIS} (default 5000), {@code IP_TOS}, {@code SO_REUSEADDR},
 *     and {@code SO_LINGER}: the most seconds that a close waits until what was flushed before is done; -1, the
 *     default, as 3.</li>
 * </ul>
 * They are read when the connection is made, {@code SO_LINGER} when the channel is closed.
 */
public final class RdmaMessageChannelConfig extends DefaultChannelConfig {
    private static final int CONNECT_TIMEOUT_MILLIS = 5_000;
    private static final Set<RdmaPermission> ALL_REMOTE = Collections.unmodifiableSet(
            EnumSet.complementOf(EnumSet.of(RdmaPermission.LOCAL_WRITE)));

    final IntOption maxSendSges = new IntOption(RdmaChannelOption.MAX_SEND_SGES, 16, 1, 256);
    final IntOption maxReceiveSges = new IntOption(RdmaChannelOption.MAX_RECEIVE_SGES, 16, 1, 256);
    final IntOption initiatorDepth = new IntOption(RdmaChannelOption.INITIATOR_DEPTH, 16, 0, 255);
    final IntOption responderResources = new IntOption(RdmaChannelOption.RESPONDER_RESOURCES, 16, 0, 255);
    final IntOption serviceLevel = new IntOption(RdmaChannelOption.SERVICE_LEVEL, 0, 0, 15);
    private final IntOption receiveBufferSize =
            new IntOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 4096, 0, 4 << 20);
    private final IntOption soLinger = new IntOption(SO_LINGER, -1, -1, Integer.MAX_VALUE);
    final IntOption maxUnreadMessages =
            new IntOption(RdmaChannelOption.MAX_UNREAD_MESSAGES, 1024, 16, 1 << 20);
    private final QueuePairOptions queuePair = new QueuePairOptions(64, 12);
    private final IntOption[] options = {
            maxSendSges, initiatorDepth, responderResources, receiveBufferSize, soLinger, maxUnreadMessages,
            queuePair.maxInlineReceive, serviceLevel, maxReceiveSges
    };
    private final RdmaMessageChannel channel;
    private volatile boolean reuseAddress;
    private volatile boolean sharedReceiveQueue;
    private volatile boolean manualReceives;
    private volatile Set<RdmaPermission> remotePermissions = ALL_REMOTE;
    private volatile byte[] connectData = { };

    RdmaMessageChannelConfig(RdmaMessageChannel channel) {
        // Messages of any length, also none, count as one each.
        super(channel, new ServerChannelRecvByteBufAllocator());
        this.channel = channel;
        setAllocator(RdmaByteBufAllocator.DEFAULT);
        setConnectTimeoutMillis(CONNECT_TIMEOUT_MILLIS);
        setWriteBufferWaterMark(new WriteBufferWaterMark(256 << 10, 512 << 10));
        setMessageSizeEstimator(OperationSizeEstimator.INSTANCE);
    }

    QueuePairOptions queuePair() {
        return queuePair;
    }

    private IntOption intOption(ChannelOption<?> option) {
        IntOption found = queuePair.find(option);
        return found != null ? found : QueuePairOptions.find(options, option);
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), SO_REUSEADDR, SO_LINGER, IP_TOS, RdmaChannelOption.SEND_QUEUE_DEPTH,
                RdmaChannelOption.RECEIVE_QUEUE_DEPTH, RdmaChannelOption.MAX_INLINE, RdmaChannelOption.MAX_SEND_SGES,
                RdmaChannelOption.RECEIVE_BUFFER_SIZE, RdmaChannelOption.SHARED_RECEIVE_QUEUE,
                RdmaChannelOption.MAX_UNREAD_MESSAGES, RdmaChannelOption.MAX_INLINE_RECEIVE,
                RdmaChannelOption.INITIATOR_DEPTH,
                RdmaChannelOption.RESPONDER_RESOURCES, RdmaChannelOption.REMOTE_PERMISSIONS,
                RdmaChannelOption.RETRY_COUNT, RdmaChannelOption.RNR_RETRY_COUNT, RdmaChannelOption.ACK_TIMEOUT,
                RdmaChannelOption.MIN_RNR_TIMER, RdmaChannelOption.RESOLVE_TIMEOUT_MILLIS,
                RdmaChannelOption.CONNECT_DATA, RdmaChannelOption.PROVIDERS, RdmaChannelOption.DEVICE,
                RdmaChannelOption.DEVICE_PORT, RdmaChannelOption.GID_INDEX, RdmaChannelOption.SERVICE_LEVEL,
                RdmaChannelOption.MANUAL_RECEIVES, RdmaChannelOption.MAX_RECEIVE_SGES);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T getOption(ChannelOption<T> option) {
        Object value;
        if (option == SO_REUSEADDR) {
            value = isReuseAddress();
        } else if (option == RdmaChannelOption.SHARED_RECEIVE_QUEUE) {
            value = isSharedReceiveQueue();
        } else if (option == RdmaChannelOption.MANUAL_RECEIVES) {
            value = isManualReceives();
        } else if (option == RdmaChannelOption.REMOTE_PERMISSIONS) {
            value = getRemotePermissions();
        } else if (option == RdmaChannelOption.CONNECT_DATA) {
            value = getConnectData();
        } else if (intOption(option) != null) {
            value = intOption(option).get();
        } else {
            value = queuePair.device.get(option);
            if (value == null) {
                return super.getOption(option);
            }
        }
        return (T) value;
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        try {
            return set(option, value);
        } catch (RuntimeException e) {
            channel.refused(e);
            throw e;
        }
    }

    @SuppressWarnings("unchecked")
    private <T> boolean set(ChannelOption<T> option, T value) {
        validate(option, value);
        if (option == SO_REUSEADDR) {
            setReuseAddress((Boolean) value);
        } else if (option == RdmaChannelOption.SHARED_RECEIVE_QUEUE) {
            setSharedReceiveQueue((Boolean) value);
        } else if (option == RdmaChannelOption.MANUAL_RECEIVES) {
            setManualReceives((Boolean) value);
        } else if (option == RdmaChannelOption.REMOTE_PERMISSIONS) {
            setRemotePermissions((Set<RdmaPermission>) value);
        } else if (option == RdmaChannelOption.CONNECT_DATA) {
            setConnectData((byte[]) value);
        } else if (intOption(option) != null) {
            intOption(option).set((Integer) value);
        } else if (!queuePair.device.set(option, value)) {
            return super.setOption(option, value);
        }
        return true;
    }

    public boolean isReuseAddress() {
        return reuseAddress;
    }

    public RdmaMessageChannelConfig setReuseAddress(boolean reuseAddress) {
        this.reuseAddress = reuseAddress;
        return this;
    }

    /** See {@link RdmaChannelOption#SHARED_RECEIVE_QUEUE}. */
    public boolean isSharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    /** See {@link RdmaChannelOption#SHARED_RECEIVE_QUEUE}. */
    public RdmaMessageChannelConfig setSharedReceiveQueue(boolean shared) {
        sharedReceiveQueue = shared;
        return this;
    }

    /** See {@link RdmaChannelOption#MANUAL_RECEIVES}. */
    public boolean isManualReceives() {
        return manualReceives;
    }

    /** See {@link RdmaChannelOption#MANUAL_RECEIVES}. */
    public RdmaMessageChannelConfig setManualReceives(boolean manual) {
        manualReceives = manual;
        return this;
    }

    /** See {@link RdmaChannelOption#RECEIVE_BUFFER_SIZE}. */
    public int getReceiveBufferSize() {
        return receiveBufferSize.get();
    }

    /** See {@link RdmaChannelOption#RECEIVE_BUFFER_SIZE}. */
    public RdmaMessageChannelConfig setReceiveBufferSize(int bytes) {
        receiveBufferSize.set(bytes);
        return this;
    }

    /** See {@link RdmaChannelOption#REMOTE_PERMISSIONS}. Unmodifiable. */
    public Set<RdmaPermission> getRemotePermissions() {
        return remotePermissions;
    }

    /** See {@link RdmaChannelOption#REMOTE_PERMISSIONS}. */
    public RdmaMessageChannelConfig setRemotePermissions(Set<RdmaPermission> permissions) {
        if (permissions.contains(RdmaPermission.LOCAL_WRITE)) {
            throw new IllegalArgumentException("REMOTE_PERMISSIONS: " + permissions + " (expected: remote ones)");
        }
        EnumSet<RdmaPermission> copy = EnumSet.noneOf(RdmaPermission.class);
        copy.addAll(permissions);
        remotePermissions = Collections.unmodifiableSet(copy);
        return this;
    }

    /** See {@link RdmaChannelOption#CONNECT_DATA}. */
    public byte[] getConnectData() {
        return connectData.clone();
    }

    /** See {@link RdmaChannelOption#CONNECT_DATA}. */
    public RdmaMessageChannelConfig setConnectData(byte[] data) {
        connectData = PrivateData.copy(data, PrivateData.MAX_REQUEST, "CONNECT_DATA");
        return this;
    }

    int getSoLinger() {
        return soLinger.get();
    }

    @Override
    protected void autoReadCleared() {
        channel.readingStopped();
    }

    /** The bytes that an operation moves, in either direction. */
    private static final class OperationSizeEstimator implements MessageSizeEstimator {
        static final OperationSizeEstimator INSTANCE = new OperationSizeEstimator();

        private final Handle handle;

        private OperationSizeEstimator() {
            Handle other = DefaultMessageSizeEstimator.DEFAULT.newHandle();
            handle = msg -> msg instanceof RdmaOperation ? size((RdmaOperation) msg) : other.size(msg);
        }

        private static int size(RdmaOperation operation) {
            // One whose buffer was released too early fails later, as other messages do.
            return operation.refCnt() == 0 ? 0 : operation.length();
        }

        @Override
        public Handle newHandle() {
            return handle;
        }
    }
}
