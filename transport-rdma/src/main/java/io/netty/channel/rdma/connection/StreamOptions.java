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

import static io.netty.channel.ChannelOption.ALLOW_HALF_CLOSURE;
import static io.netty.channel.ChannelOption.SO_LINGER;
import static io.netty.channel.ChannelOption.SO_RCVBUF;
import static io.netty.channel.ChannelOption.SO_SNDBUF;
import static io.netty.channel.ChannelOption.TCP_NODELAY;

/**
 * The options of a byte-stream connection. Any thread.
 */
public final class StreamOptions {
    public static final int DEFAULT_RECEIVE_BUFFER_SIZE = 1 << 20;
    private static final int MIN_RECEIVE_BUFFER_SIZE = 4096;
    private static final int MAX_RECEIVE_BUFFER_SIZE = 256 << 20;
    /** The largest send buffer of a TCP socket of Linux: the default of tcp_wmem, tcp(7). */
    private static final int DEFAULT_DETACHED_BYTES = 4 << 20;

    static final OptionRow<Integer> SEND_COPY_THRESHOLD = OptionRow.number("SEND_COPY_THRESHOLD", 512, 0, 65536);
    static final OptionRow<Integer> RECEIVE_COPY_THRESHOLD =
            OptionRow.number("RECEIVE_COPY_THRESHOLD", 1024, 0, 65536);
    static final OptionRow<Integer> RECEIVE_BUFFER_IDLE_MILLIS =
            OptionRow.number("RECEIVE_BUFFER_IDLE_MILLIS", 5_000, 10, 86_400_000);
    /** The most registered memory that the peer may write to, in bytes: a power of two, from 4096 to 256 MiB. */
    static final OptionRow<Integer> RECEIVE_BUFFER_SIZE = new OptionRow.Number(SO_RCVBUF,
            DEFAULT_RECEIVE_BUFFER_SIZE, 1, Integer.MAX_VALUE, StreamOptions::roundedReceiveBufferSize);
    private static final OptionRow<Integer> SEND_BUFFER_SIZE =
            OptionRow.number(SO_SNDBUF, Integer.MAX_VALUE, 1, Integer.MAX_VALUE);
    private static final OptionRow<Integer> LINGER =
            OptionRow.number(SO_LINGER, -1, Integer.MIN_VALUE, Integer.MAX_VALUE);
    public static final OptionTable TABLE = new OptionTable().add(RECEIVE_BUFFER_SIZE, SEND_BUFFER_SIZE)
            // Nothing is ever delayed.
            .add(new OptionRow<>(TCP_NODELAY, true, value -> true))
            .add(LINGER, new OptionRow<>(ALLOW_HALF_CLOSURE, false))
            .addAll(QueuePairOptions.ROWS).add(SEND_COPY_THRESHOLD, RECEIVE_COPY_THRESHOLD,
                    RECEIVE_BUFFER_IDLE_MILLIS).addAll(LivenessOptions.ROWS).addAll(DeviceOptions.ROWS);

    public final OptionValues values = new OptionValues(TABLE);
    public final QueuePairOptions queuePair = new QueuePairOptions(values);
    final LivenessOptions liveness = new LivenessOptions(values);

    private static int roundedReceiveBufferSize(int size) {
        int bounded = Math.min(Math.max(size, MIN_RECEIVE_BUFFER_SIZE), MAX_RECEIVE_BUFFER_SIZE);
        return 1 << 32 - Integer.numberOfLeadingZeros(bounded - 1);
    }

    /**
     * Returns whether the promise of a write waits for the peer's device even if its bytes were copied, because a close
     * resets the connection and so would drop them.
     */
    boolean isPeerAwaited() {
        return values.get(LINGER) == 0;
    }

    /** The most bytes in flight; {@link Integer#MAX_VALUE} stands for no bound. */
    int sendBufferSize() {
        return values.get(SEND_BUFFER_SIZE);
    }

    /** The most flushed bytes that are sent after the close of the channel, as many as a socket has in its buffer. */
    int maxDetachedBytes() {
        int size = sendBufferSize();
        return size == Integer.MAX_VALUE ? DEFAULT_DETACHED_BYTES : size;
    }
}
