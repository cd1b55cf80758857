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
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.connection.DeviceOptions;
import io.netty.channel.rdma.connection.LivenessOptions;
import io.netty.channel.rdma.connection.OptionRow;
import io.netty.channel.rdma.connection.OptionTable;
import io.netty.channel.rdma.connection.OptionValues;
import io.netty.channel.rdma.connection.QueuePairOptions;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

import static io.netty.channel.ChannelOption.SO_LINGER;

/** The configuration of a {@link RdmaMessageChannel}: see {@link RdmaMessageChannel#config()}. */
final class RdmaMessageChannelConfig extends DefaultChannelConfig {
    private static final int CONNECT_TIMEOUT_MILLIS = 5_000;
    private static final Set<RdmaPermission> ALL_REMOTE = Collections.unmodifiableSet(
            EnumSet.complementOf(EnumSet.of(RdmaPermission.LOCAL_WRITE)));

    static final OptionRow<Integer> MAX_SEND_SGES =
            OptionRow.number(RdmaChannelOption.MAX_SEND_SGES, 16, 1, 256);
    static final OptionRow<Integer> MAX_RECEIVE_SGES =
            OptionRow.number(RdmaChannelOption.MAX_RECEIVE_SGES, 16, 1, 256);
    static final OptionRow<Integer> INITIATOR_DEPTH =
            OptionRow.number(RdmaChannelOption.INITIATOR_DEPTH, 16, 0, 255);
    static final OptionRow<Integer> RESPONDER_RESOURCES =
            OptionRow.number(RdmaChannelOption.RESPONDER_RESOURCES, 16, 0, 255);
    static final OptionRow<Integer> SERVICE_LEVEL = OptionRow.number(RdmaChannelOption.SERVICE_LEVEL, 0, 0, 15);
    static final OptionRow<Integer> PATH_MTU =
            new OptionRow<>(RdmaChannelOption.PATH_MTU, 0, RdmaMessageChannelConfig::checkMtu);
    static final OptionRow<Boolean> GLOBAL_HEADER = new OptionRow<>(RdmaChannelOption.GLOBAL_HEADER, false);
    static final OptionRow<Integer> RECEIVE_BUFFER_SIZE =
            OptionRow.number(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 4096, 0, 4 << 20);
    static final OptionRow<Integer> LINGER = OptionRow.number(SO_LINGER, -1, -1, Integer.MAX_VALUE);
    static final OptionRow<Integer> MAX_UNREAD_MESSAGES =
            OptionRow.number(RdmaChannelOption.MAX_UNREAD_MESSAGES, 1024, 16, 1 << 20);
    static final OptionRow<Boolean> SHARED_RECEIVE_QUEUE =
            new OptionRow<>(RdmaChannelOption.SHARED_RECEIVE_QUEUE, false);
    static final OptionRow<Boolean> MANUAL_RECEIVES = new OptionRow<>(RdmaChannelOption.MANUAL_RECEIVES, false);
    static final OptionRow<Set<RdmaPermission>> REMOTE_PERMISSIONS =
            new OptionRow<>(RdmaChannelOption.REMOTE_PERMISSIONS, ALL_REMOTE,
                    RdmaMessageChannelConfig::checkPermissions);
    static final OptionRow<byte[]> CONNECT_DATA = new OptionRow<>(RdmaChannelOption.CONNECT_DATA, new byte[0],
            data -> PrivateData.copy(data, PrivateData.MAX_REQUEST, "CONNECT_DATA")) {
        @Override
        protected byte[] read(OptionValues values) {
            return super.read(values).clone();
        }
    };
    static final OptionTable TABLE = new OptionTable().addAll(QueuePairOptions.ROWS)
            .addWithDefault(QueuePairOptions.RECEIVE_QUEUE_DEPTH, 64)
            .addWithDefault(QueuePairOptions.MIN_RNR_TIMER, 12)
            .add(LINGER, MAX_SEND_SGES, RECEIVE_BUFFER_SIZE, SHARED_RECEIVE_QUEUE, MAX_UNREAD_MESSAGES,
                    QueuePairOptions.MAX_INLINE_RECEIVE, MANUAL_RECEIVES, MAX_RECEIVE_SGES, INITIATOR_DEPTH,
                    RESPONDER_RESOURCES, REMOTE_PERMISSIONS, CONNECT_DATA, SERVICE_LEVEL, PATH_MTU, GLOBAL_HEADER)
            .addAll(LivenessOptions.ROWS).addAll(DeviceOptions.ROWS);

    private final RdmaMessageChannel channel;
    private final OptionValues options = new OptionValues(TABLE);
    final QueuePairOptions queuePair = new QueuePairOptions(options);
    final LivenessOptions liveness = new LivenessOptions(options);

    RdmaMessageChannelConfig(RdmaMessageChannel channel) {
        // Messages of any length, also none, count as one each.
        super(channel, new ServerChannelRecvByteBufAllocator());
        this.channel = channel;
        setAllocator(RdmaByteBufAllocator.DEFAULT);
        setConnectTimeoutMillis(CONNECT_TIMEOUT_MILLIS);
        setWriteBufferWaterMark(new WriteBufferWaterMark(256 << 10, 512 << 10));
        setMessageSizeEstimator(OperationSizeEstimator.INSTANCE);
    }

    <T> T get(OptionRow<T> row) {
        return options.get(row);
    }

    int getSoLinger() {
        return options.get(LINGER);
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
        try {
            validate(option, value);
            if (!options.set(option, value)) {
                return super.setOption(option, value);
            }
        } catch (RuntimeException e) {
            channel.refused(e);
            throw e;
        }
        if (LivenessOptions.has(option)) {
            channel.livenessChanged();
        }
        return true;
    }

    private static int checkMtu(int mtu) {
        if (mtu != 0 && (mtu < 256 || mtu > 4096 || Integer.bitCount(mtu) != 1)) {
            throw new IllegalArgumentException("PATH_MTU: " + mtu + " (expected: 0, 256, 512, 1024, 2048 or 4096)");
        }
        return mtu;
    }

    private static Set<RdmaPermission> checkPermissions(Set<RdmaPermission> permissions) {
        if (permissions.contains(RdmaPermission.LOCAL_WRITE)) {
            throw new IllegalArgumentException("REMOTE_PERMISSIONS: " + permissions + " (expected: remote ones)");
        }
        EnumSet<RdmaPermission> copy = EnumSet.noneOf(RdmaPermission.class);
        copy.addAll(permissions);
        return Collections.unmodifiableSet(copy);
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
            // An operation whose buffer was released too early fails later, as other messages do.
            return operation.refCnt() == 0 ? 0 : operation.length();
        }

        @Override
        public Handle newHandle() {
            return handle;
        }
    }
}
