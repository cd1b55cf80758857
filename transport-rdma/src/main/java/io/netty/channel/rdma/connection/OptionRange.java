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

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Checks of option values, whose errors name the option, the value and the range.
 */
public final class OptionRange {
    /**
     * The options by their names, which are constants, so that their hashes are known: each channel asks for all of its
     * options.
     */
    private static final ConcurrentMap<String, ChannelOption<?>> OPTIONS = new ConcurrentHashMap<>();

    private OptionRange() { }

    /** The name of an option, without the class that Netty puts before it. */
    public static String name(ChannelOption<?> option) {
        return option.name().substring(option.name().lastIndexOf('#') + 1);
    }

    /**
     * The option that {@code RdmaChannelOption} has under this name. It is the same object: options are constants of a
     * pool, by their names.
     */
    @SuppressWarnings("unchecked")
    static <T> ChannelOption<T> option(String name) {
        return (ChannelOption<T>) OPTIONS.computeIfAbsent(name,
                key -> ChannelOption.valueOf("io.netty.channel.rdma.RdmaChannelOption#" + key));
    }

    public static int check(ChannelOption<?> option, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name(option) + ": " + value + " (expected: " + min + " to " + max +
                    ')');
        }
        return value;
    }
}
