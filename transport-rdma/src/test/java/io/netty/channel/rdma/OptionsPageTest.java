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
package io.netty.channel.rdma;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The options that channels have are those of docs/options.md, with its ranges and defaults.
 */
@Tag("quick")
class OptionsPageTest {
    private static final Pattern RANGE = Pattern.compile("(-?\\d+) to (2\\^31 - 1|\\d+)\\b.*");
    private static final Pattern NUMBER = Pattern.compile("(-?\\d+)( [KM]iB)?\\b.*");

    private final Channel stream = new RdmaSocketChannel();
    private final Channel listener = new RdmaServerSocketChannel();
    private final Channel messages = new RdmaMessageChannel();
    private final Channel datagrams = new RdmaDatagramChannel();
    private final List<Row> rows = new ArrayList<>();

    private record Row(String option, String range, String initial, List<Channel> channels) { }

    OptionsPageTest() throws IOException {
        Map<String, List<Channel>> sections = Map.of("Queue pair", List.of(stream),
                "Connecting and addresses", List.of(stream, listener), "Byte stream", List.of(stream),
                "Message channels", List.of(messages, datagrams), "Datagram channels", List.of(datagrams));
        List<Channel> channels = List.of();
        List<String> header = List.of();
        for (String line : Files.readAllLines(Path.of("..", "docs", "options.md"))) {
            if (line.startsWith("## ")) {
                channels = sections.getOrDefault(line.substring(3), List.of());
                header = List.of();
            } else if (line.startsWith("| ")) {
                List<String> cells = Arrays.stream(line.split("\\|")).skip(1).map(String::trim).toList();
                if (header.isEmpty()) {
                    header = cells;
                } else if (!channels.isEmpty() && header.contains("range")) {
                    String option = cells.get(0).replaceFirst("^`([A-Z_\\d]+)`.*", "$1");
                    rows.add(new Row(option, cells.get(header.indexOf("range")),
                            cells.get(header.indexOf("default")), channels));
                }
            } else if (line.isBlank()) {
                header = List.of();
            }
        }
    }

    @AfterEach
    void close() {
        channels().forEach(channel -> channel.unsafe().closeForcibly());
    }

    private Stream<Channel> channels() {
        return Stream.of(stream, listener, messages, datagrams);
    }

    private static Map<String, ChannelOption<?>> options(Channel channel) {
        Map<String, ChannelOption<?>> result = new LinkedHashMap<>();
        channel.config().getOptions().keySet().forEach(option -> result.put(name(option), option));
        return result;
    }

    private static String name(ChannelOption<?> option) {
        return option.name().substring(option.name().lastIndexOf('#') + 1);
    }

    @Test
    void everyOptionHasARow() {
        Set<String> described = rows.stream().map(Row::option).collect(Collectors.toSet());
        Set<String> own = new LinkedHashSet<>();
        channels().forEach(channel -> own.addAll(options(channel).keySet()));
        own.removeAll(Set.of("MAX_MESSAGES_PER_READ", "MAX_MESSAGES_PER_WRITE", "WRITE_SPIN_COUNT", "ALLOCATOR",
                "AUTO_READ", "AUTO_CLOSE", "RECVBUF_ALLOCATOR", "WRITE_BUFFER_HIGH_WATER_MARK",
                "WRITE_BUFFER_LOW_WATER_MARK", "WRITE_BUFFER_WATER_MARK", "MESSAGE_SIZE_ESTIMATOR",
                "SINGLE_EVENTEXECUTOR_PER_GROUP"));
        assertThat(described).containsExactlyInAnyOrderElementsOf(own);
    }

    @Test
    void everyOptionIsAConstantThatApplicationsCanName() throws IllegalAccessException {
        Set<ChannelOption<?>> constants = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Class<?> type : List.of(ChannelOption.class, RdmaChannelOption.class, EpollChannelOption.class)) {
            for (Field field : type.getFields()) {
                if (ChannelOption.class.isAssignableFrom(field.getType())) {
                    constants.add((ChannelOption<?>) field.get(null));
                }
            }
        }
        channels().forEach(channel -> assertThat(constants).containsAll(channel.config().getOptions().keySet()));
    }

    @Test
    void defaultsAreThoseOfThePage() {
        int compared = 0;
        for (Row row : rows) {
            Object initial = initial(row);
            Matcher number = NUMBER.matcher(row.initial);
            if (number.matches()) {
                int unit = number.group(2) == null ? 1 : number.group(2).equals(" KiB") ? 1 << 10 : 1 << 20;
                assertThat(initial).as(row.option).isEqualTo(Integer.parseInt(number.group(1)) * unit);
                compared++;
            } else if (row.initial.matches("(true|false)\\b.*")) {
                assertThat(initial).as(row.option).isEqualTo(row.initial.startsWith("true"));
                compared++;
            }
        }
        assertThat(compared).isGreaterThan(30);
    }

    private static Object initial(Row row) {
        return channel(row).config().getOption(options(channel(row)).get(row.option));
    }

    private static Channel channel(Row row) {
        return row.channels.stream().filter(channel -> options(channel).containsKey(row.option)).findFirst()
                .orElseThrow(() -> new AssertionError("no channel of its section has " + row.option));
    }

    @Test
    void rangesAreThoseOfThePage() {
        int compared = 0;
        for (Row row : rows) {
            Matcher range = RANGE.matcher(row.range);
            boolean number = initial(row) instanceof Integer;
            assertThat(range.matches() || !number || row.range.isEmpty()).as("a range: " + row).isTrue();
            if (number && range.matches()) {
                int min = Integer.parseInt(range.group(1));
                int max = range.group(2).startsWith("2^") ? Integer.MAX_VALUE : Integer.parseInt(range.group(2));
                @SuppressWarnings("unchecked")
                ChannelOption<Integer> option = (ChannelOption<Integer>) options(channel(row)).get(row.option);
                for (int good : new int[] { min, max }) {
                    assertThat(channel(row).config().setOption(option, good)).as(row + ": " + good).isTrue();
                }
                for (long bad : new long[] { min - 1L, max + 1L }) {
                    if (bad == (int) bad) {
                        assertThatThrownBy(() -> channel(row).config().setOption(option, (int) bad)).as("" + row)
                                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("" + bad);
                    }
                }
                compared++;
            }
        }
        assertThat(compared).isGreaterThan(25);
    }
}
