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

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The values that one channel has for the options of its {@link OptionTable}. Any thread.
 */
public final class OptionValues {
    private final OptionTable table;
    /** The values by index of their row; {@code null} is the default. */
    private final AtomicReferenceArray<Object> values;

    public OptionValues(OptionTable table) {
        this.table = table;
        values = new AtomicReferenceArray<>(table.defaults.length);
    }

    /** The value of an option; the default, if the table does not have the option. */
    @SuppressWarnings("unchecked")
    public <T> T get(OptionRow<T> row) {
        if (row.index >= values.length()) {
            return row.initial;
        }
        Object value = values.get(row.index);
        if (value == null) {
            value = table.defaults[row.index];
        }
        return value == null ? row.initial : (T) value;
    }

    void put(OptionRow<?> row, Object value) {
        values.set(row.index, value);
    }

    /** Returns whether the application has set the option. */
    boolean isSet(OptionRow<?> row) {
        return values.get(row.index) != null;
    }

    /** Returns whether the table has the option. */
    public boolean has(ChannelOption<?> option) {
        return table.rows.containsKey(option);
    }

    /** The value of an option of the table. */
    @SuppressWarnings("unchecked")
    public <T> T get(ChannelOption<T> option) {
        return ((OptionRow<T>) table.rows.get(option)).read(this);
    }

    /**
     * Sets an option, if the table has it.
     *
     * @throws IllegalArgumentException that names the option, the value and what is expected.
     */
    @SuppressWarnings("unchecked")
    public <T> boolean set(ChannelOption<T> option, T value) {
        OptionRow<T> row = (OptionRow<T>) table.rows.get(option);
        if (row == null) {
            return false;
        }
        row.write(this, value);
        return true;
    }

    /** All options of the table. */
    public ChannelOption<?>[] all() {
        return table.listed.toArray(new ChannelOption<?>[0]);
    }
}
