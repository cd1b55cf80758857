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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The options that a class of channels takes beyond those of every channel of Netty. The class builds the table once,
 * and does not change it later.
 */
public final class OptionTable {
    final Map<ChannelOption<?>, OptionRow<?>> rows = new IdentityHashMap<>();
    /** The options, without aliases. */
    final List<ChannelOption<?>> listed = new ArrayList<>();
    /** The defaults by index of their row, since connections read options for each message. */
    Object[] defaults = { };

    public OptionTable add(OptionRow<?>... added) {
        return addAll(Arrays.asList(added));
    }

    public OptionTable addAll(List<OptionRow<?>> added) {
        for (OptionRow<?> row : added) {
            boolean isNew = rows.put(row.option(), row) == null;
            if (defaults.length <= row.index) {
                defaults = Arrays.copyOf(defaults, row.index + 1);
            }
            defaults[row.index] = row.initial;
            if (isNew && !(row instanceof OptionRow.Alias)) {
                listed.add(row.option());
            }
        }
        return this;
    }

    /** Adds an option whose default differs from the default in its row. */
    public <T> OptionTable addWithDefault(OptionRow<T> row, T initial) {
        add(row);
        defaults[row.index] = initial;
        return this;
    }
}
