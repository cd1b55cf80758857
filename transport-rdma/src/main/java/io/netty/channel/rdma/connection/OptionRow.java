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

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/**
 * An option of RDMA channels: its name, its default, and the values that it takes. Each option has one row. A channel
 * with the option has the row in its {@link OptionTable} and the value in its {@link OptionValues}. Immutable.
 *
 * @param <T> the type of the value.
 */
public class OptionRow<T> {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final ChannelOption<T> option;
    final T initial;
    private final UnaryOperator<T> check;
    final int index = COUNT.getAndIncrement();

    /**
     * @param check returns the value to keep for a value that the application sets, or throws an {@link
     *         IllegalArgumentException}.
     */
    public OptionRow(ChannelOption<T> option, T initial, UnaryOperator<T> check) {
        this.option = option;
        this.initial = initial;
        this.check = check;
    }

    /** Creates an option that takes every value. */
    public OptionRow(ChannelOption<T> option, T initial) {
        this(option, initial, UnaryOperator.identity());
    }

    /** Creates an option that takes the numbers of a range. */
    public static Number number(ChannelOption<Integer> option, int initial, int min, int max) {
        return new Number(option, initial, min, max, UnaryOperator.identity());
    }

    /**
     * The option that {@code RdmaChannelOption} has under this name. It is the same object, because options are
     * constants in a pool, found by their names.
     */
    static <T> ChannelOption<T> named(String name) {
        return ChannelOption.valueOf("io.netty.channel.rdma.RdmaChannelOption#" + name);
    }

    static Number number(String name, int initial, int min, int max) {
        return number(named(name), initial, min, max);
    }

    /** Netty's object for the option. */
    final ChannelOption<T> option() {
        return option;
    }

    /** The name of an option without the class that Netty puts before it. */
    static String name(ChannelOption<?> option) {
        return option.name().substring(option.name().lastIndexOf('#') + 1);
    }

    /** The value that an application gets. */
    protected T read(OptionValues values) {
        return values.get(this);
    }

    void write(OptionValues values, T value) {
        values.put(this, check.apply(value));
    }

    /** An option with a number, whose error names the option, the value and the range. */
    public static final class Number extends OptionRow<Integer> {
        final int min;
        final int max;

        /** @param round returns the value to keep for a value of the range. */
        Number(ChannelOption<Integer> option, int initial, int min, int max, UnaryOperator<Integer> round) {
            super(option, initial, value -> round.apply(checkRange(option, value, min, max)));
            this.min = min;
            this.max = max;
        }

        private static int checkRange(ChannelOption<?> option, int value, int min, int max) {
            if (value < min || value > max) {
                throw new IllegalArgumentException(name(option) + ": " + value + " (expected: " + min + " to " + max +
                        ')');
            }
            return value;
        }
    }

    /** Another name of an option, with another unit, for the options of the epoll transport. */
    static final class Alias extends OptionRow<Integer> {
        private final Number of;
        private final int unit;

        /** @param unit the number of units of the other option in one unit of this one. */
        Alias(ChannelOption<Integer> option, Number of, int unit) {
            super(option, null);
            this.of = of;
            this.unit = unit;
        }

        @Override
        protected Integer read(OptionValues values) {
            int value = values.get(of);
            return value == 0 ? 0 : Math.max(1, value / unit);
        }

        @Override
        void write(OptionValues values, Integer value) {
            int min = (of.min + unit - 1) / unit;
            values.put(of, unit * Number.checkRange(option(), value, min, of.max / unit));
        }
    }
}
