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
package io.netty.channel.rdma.connection;

import io.netty.channel.ChannelOption;

import static io.netty.channel.ChannelOption.SO_RCVBUF;
import static io.netty.channel.ChannelOption.SO_SNDBUF;

/**
 * The options of a byte-stream connection. Any thread.
 */
public final class StreamOptions {
    public static final int DEFAULT_RECEIVE_BUFFER_SIZE = 1 << 20;
    /**
     * The most bytes that a closed channel leaves, by default, as much as Linux lets the send buffer of a TCP socket
     * grow to: the default of tcp_wmem, tcp(7).
     */
    private static final int DEFAULT_DETACHED_BYTES = 4 << 20;

    public final QueuePairOptions queuePair = new QueuePairOptions(256, 0);
    public final LivenessOptions liveness = new LivenessOptions();
    public final IntOption sendCopyThreshold = new IntOption("SEND_COPY_THRESHOLD", 512, 0, 65536);
    public final IntOption receiveCopyThreshold = new IntOption("RECEIVE_COPY_THRESHOLD", 1024, 0, 65536);
    public final IntOption receiveBufferIdleMillis =
            new IntOption("RECEIVE_BUFFER_IDLE_MILLIS", 5_000, 10, 86_400_000);
    private final IntOption[] own = { sendCopyThreshold, receiveCopyThreshold, receiveBufferIdleMillis };
    /** The value of SO_LINGER, any number. */
    public volatile int soLinger = -1;
    private volatile int receiveBufferSize = DEFAULT_RECEIVE_BUFFER_SIZE;
    private volatile int sendBufferSize = Integer.MAX_VALUE;

    /** The numeric option with this name, or {@code null}. */
    public IntOption find(ChannelOption<?> option) {
        IntOption found = queuePair.find(option);
        return found != null ? found : QueuePairOptions.find(own, option);
    }

    /** The most registered memory that the peer may write to, in bytes: a power of two of 4096 to 256 MiB. */
    public int receiveBufferSize() {
        return receiveBufferSize;
    }

    /** @param size any positive number, rounded to what there is. */
    public void receiveBufferSize(int size) {
        OptionRange.check(SO_RCVBUF, size, 1, Integer.MAX_VALUE);
        int bounded = Math.min(Math.max(size, 4096), 256 << 20);
        receiveBufferSize = 1 << 32 - Integer.numberOfLeadingZeros(bounded - 1);
    }

    /**
     * Whether the promise of a write waits for the peer's device although its bytes were copied: where the time that
     * this takes is limited, or where a close would take them back.
     */
    boolean isPeerAwaited() {
        return liveness.userTimeoutMillis() > 0 || soLinger == 0;
    }

    /** The most bytes in flight; {@link Integer#MAX_VALUE} stands for no bound. */
    public int sendBufferSize() {
        return sendBufferSize;
    }

    /** The most flushed bytes that are sent after the close of the channel: as many as a socket has in its buffer. */
    int maxDetachedBytes() {
        int size = sendBufferSize;
        return size == Integer.MAX_VALUE ? DEFAULT_DETACHED_BYTES : size;
    }

    public void sendBufferSize(int size) {
        sendBufferSize = OptionRange.check(SO_SNDBUF, size, 1, Integer.MAX_VALUE);
    }
}
