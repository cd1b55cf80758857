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
package io.netty.channel.rdma.differential;

import io.netty.channel.ChannelOption;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Actions of both ends of a connection.
 *
 * @param seed  that it was generated with.
 */
record Program(long seed, Setup setup, List<Step> steps) {
    /** Handlers between the channel and the handler under test. */
    enum Pipeline { PLAIN, CONSOLIDATING, CHUNKED, TLS }

    /**
     * @param listening whether there is a server.
     * @param oneLoop   whether both ends have the same event loop.
     * @param rdma      options that only RDMA knows.
     */
    record Setup(boolean listening, boolean oneLoop, Pipeline pipeline, Map<ChannelOption<?>, Object> client,
                 Map<ChannelOption<?>, Object> server, Map<ChannelOption<?>, Object> rdma) {
        Map<ChannelOption<?>, Object> options(Side side) {
            return side == Side.CLIENT ? client : server;
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("program of seed ").append(seed).append(", ").append(setup.pipeline);
        text.append(setup.listening ? "" : ", nobody listens").append(setup.oneLoop ? ", one loop\n" : "\n");
        append(text, "client", setup.client);
        append(text, "server", setup.server);
        append(text, "rdma", setup.rdma);
        for (Step step : steps) {
            text.append("  ").append(step).append('\n');
        }
        return text.toString();
    }

    private static void append(StringBuilder text, String name, Map<ChannelOption<?>, Object> options) {
        Map<String, Object> sorted = new TreeMap<>();
        options.forEach((option, value) -> sorted.put(option.name(), value));
        text.append("  ").append(name).append(' ').append(sorted).append('\n');
    }
}
