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
import io.netty.channel.epoll.EpollChannelOption;

import java.util.List;

import static io.netty.channel.ChannelOption.SO_KEEPALIVE;

/**
 * The options of a channel that define when its peer counts as dead, under our names and those of the epoll transport.
 * Any thread.
 */
public final class LivenessOptions {
    private static final int MAX_MILLIS = 86_400_000;
    /** The limit of Linux: {@code MAX_TCP_KEEPCNT}. */
    private static final int MAX_COUNT = 127;

    private static final OptionRow<Boolean> KEEP_ALIVE = new OptionRow<>(SO_KEEPALIVE, false);
    private static final OptionRow.Number IDLE_MILLIS =
            OptionRow.number("KEEP_ALIVE_IDLE_MILLIS", 60_000, 10, MAX_MILLIS);
    private static final OptionRow.Number INTERVAL_MILLIS =
            OptionRow.number("KEEP_ALIVE_INTERVAL_MILLIS", 10_000, 10, MAX_MILLIS);
    private static final OptionRow.Number COUNT = OptionRow.number("KEEP_ALIVE_COUNT", 3, 1, MAX_COUNT);
    private static final OptionRow.Number USER_TIMEOUT = OptionRow.number("USER_TIMEOUT_MILLIS", 0, 0, MAX_MILLIS);
    public static final List<OptionRow<?>> ROWS = List.of(KEEP_ALIVE, IDLE_MILLIS, INTERVAL_MILLIS, COUNT, USER_TIMEOUT,
            new OptionRow.Alias(EpollChannelOption.TCP_KEEPIDLE, IDLE_MILLIS, 1000),
            new OptionRow.Alias(EpollChannelOption.TCP_KEEPINTVL, INTERVAL_MILLIS, 1000),
            new OptionRow.Alias(EpollChannelOption.TCP_KEEPCNT, COUNT, 1),
            new OptionRow.Alias(EpollChannelOption.TCP_USER_TIMEOUT, USER_TIMEOUT, 1));

    private final OptionValues values;

    public LivenessOptions(OptionValues values) {
        this.values = values;
    }

    /** Returns whether the option is one of these. */
    public static boolean has(ChannelOption<?> option) {
        return ROWS.stream().anyMatch(row -> row.option() == option);
    }

    public boolean isOn() {
        return isKeepAlive() || userTimeoutMillis() > 0;
    }

    boolean isKeepAlive() {
        return values.get(KEEP_ALIVE);
    }

    /** The time without a sign of life, in milliseconds, after which the peer is tested. */
    long idleMillis() {
        return values.get(IDLE_MILLIS);
    }

    /** Maximum time for the peer's answer to the test. */
    long answerMillis() {
        return (long) values.get(INTERVAL_MILLIS) * values.get(COUNT);
    }

    /** Maximum time in which the peer receives none of the flushed bytes; 0 if the device decides. */
    long userTimeoutMillis() {
        return values.get(USER_TIMEOUT);
    }

    /** The shortest time after which there may be something to check. */
    long shortestMillis() {
        // A test for copied bytes, which have no completion, must be sent some time before the timeout.
        long timeout = (userTimeoutMillis() + 1) / 2;
        return timeout == 0 ? idleMillis() : isKeepAlive() ? Math.min(timeout, idleMillis()) : timeout;
    }
}
