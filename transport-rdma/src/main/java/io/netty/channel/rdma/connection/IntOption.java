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

/**
 * A numeric option of one channel: its range, its value, and whether the application has set it. Any thread.
 */
public final class IntOption {
    private final ChannelOption<Integer> option;
    private final int min;
    private final int max;
    private volatile int value;
    private volatile boolean set;

    /** @param name of the constant of {@code RdmaChannelOption}, of which there is one for each name. */
    IntOption(String name, int initial, int min, int max) {
        this(OptionRange.option(name), initial, min, max);
    }

    public IntOption(ChannelOption<Integer> option, int initial, int min, int max) {
        this.option = option;
        this.min = min;
        this.max = max;
        value = initial;
    }

    String name() {
        return OptionRange.name(option);
    }

    public int get() {
        return value;
    }

    /**
     * @throws IllegalArgumentException that names the option, the value and the range.
     */
    public void set(int newValue) {
        value = OptionRange.check(option, newValue, min, max);
        set = true;
    }

    /** Whether the other option is this one. */
    public boolean is(ChannelOption<?> other) {
        return option == other;
    }

    /** The value is the application's, not the default. */
    boolean isSet() {
        return set;
    }
}
