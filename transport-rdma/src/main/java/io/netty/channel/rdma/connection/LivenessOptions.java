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

import static io.netty.channel.ChannelOption.SO_KEEPALIVE;

/**
 * The options of a channel that say when its peer counts as dead, under our names and under those of the epoll
 * transport. Any thread.
 */
public final class LivenessOptions {
    private static final ChannelOption<Integer> KEEP_ALIVE_IDLE_MILLIS =
            OptionRange.option("KEEP_ALIVE_IDLE_MILLIS");
    private static final ChannelOption<Integer> KEEP_ALIVE_INTERVAL_MILLIS =
            OptionRange.option("KEEP_ALIVE_INTERVAL_MILLIS");
    private static final ChannelOption<Integer> KEEP_ALIVE_COUNT = OptionRange.option("KEEP_ALIVE_COUNT");
    private static final ChannelOption<Integer> USER_TIMEOUT_MILLIS = OptionRange.option("USER_TIMEOUT_MILLIS");
    private static final int MAX_MILLIS = 86_400_000;
    private static final int MAX_SECONDS = MAX_MILLIS / 1000;
    /** The maximum of Linux: {@code MAX_TCP_KEEPCNT}. */
    private static final int MAX_COUNT = 127;

    private volatile boolean keepAlive;
    private volatile int idleMillis = 60_000;
    private volatile int intervalMillis = 10_000;
    private volatile int count = 3;
    private volatile int userTimeoutMillis;

    /** The value of an option, or {@code null} if it is not one of these. */
    public Object get(ChannelOption<?> option) {
        if (option == SO_KEEPALIVE) {
            return keepAlive;
        }
        if (option == KEEP_ALIVE_IDLE_MILLIS) {
            return idleMillis;
        }
        if (option == KEEP_ALIVE_INTERVAL_MILLIS) {
            return intervalMillis;
        }
        if (option == KEEP_ALIVE_COUNT || option == EpollChannelOption.TCP_KEEPCNT) {
            return count;
        }
        if (option == USER_TIMEOUT_MILLIS || option == EpollChannelOption.TCP_USER_TIMEOUT) {
            return userTimeoutMillis;
        }
        if (option == EpollChannelOption.TCP_KEEPIDLE) {
            return seconds(idleMillis);
        }
        if (option == EpollChannelOption.TCP_KEEPINTVL) {
            return seconds(intervalMillis);
        }
        return null;
    }

    /** Sets an option, if it is one of these. */
    public boolean set(ChannelOption<?> option, Object value) {
        if (option == SO_KEEPALIVE) {
            keepAlive = (Boolean) value;
        } else if (option == KEEP_ALIVE_IDLE_MILLIS) {
            idleMillis = OptionRange.check(option, (Integer) value, 10, MAX_MILLIS);
        } else if (option == KEEP_ALIVE_INTERVAL_MILLIS) {
            intervalMillis = OptionRange.check(option, (Integer) value, 10, MAX_MILLIS);
        } else if (option == KEEP_ALIVE_COUNT || option == EpollChannelOption.TCP_KEEPCNT) {
            count = OptionRange.check(option, (Integer) value, 1, MAX_COUNT);
        } else if (option == USER_TIMEOUT_MILLIS || option == EpollChannelOption.TCP_USER_TIMEOUT) {
            userTimeoutMillis = OptionRange.check(option, (Integer) value, 0, MAX_MILLIS);
        } else if (option == EpollChannelOption.TCP_KEEPIDLE) {
            idleMillis = OptionRange.check(option, (Integer) value, 1, MAX_SECONDS) * 1000;
        } else if (option == EpollChannelOption.TCP_KEEPINTVL) {
            intervalMillis = OptionRange.check(option, (Integer) value, 1, MAX_SECONDS) * 1000;
        } else {
            return false;
        }
        return true;
    }

    private static int seconds(int millis) {
        return Math.max(1, millis / 1000);
    }

    boolean isOn() {
        return keepAlive || userTimeoutMillis > 0;
    }

    public boolean isKeepAlive() {
        return keepAlive;
    }

    /** The time without a sign of life, in milliseconds, after which the peer is tested. */
    long idleMillis() {
        return idleMillis;
    }

    /** How long the peer may take to answer the test. */
    long answerMillis() {
        return (long) intervalMillis * count;
    }

    /** How long the peer may take none of what was flushed; 0 if that is left to the device. */
    long userTimeoutMillis() {
        return userTimeoutMillis;
    }

    /** The shortest time after which there may be something to do, if there is any. */
    long shortestMillis() {
        int timeout = userTimeoutMillis;
        return timeout == 0 ? idleMillis : keepAlive ? Math.min(timeout, idleMillis) : timeout;
    }
}
