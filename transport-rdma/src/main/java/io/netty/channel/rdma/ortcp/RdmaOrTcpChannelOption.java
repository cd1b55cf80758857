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
package io.netty.channel.rdma.ortcp;

import io.netty.channel.ChannelOption;

import java.util.Map;

/**
 * Options of {@link RdmaOrTcpSocketChannel} and {@link RdmaOrTcpServerSocketChannel}, beside those of the channels of
 * both transports. They are read when the channel connects or binds.
 */
public final class RdmaOrTcpChannelOption<T> extends ChannelOption<T> {
    /**
     * Transports that the channel may use, by address. Default {@link RdmaOrTcpChoice#RDMA_OR_TCP} for all. For clients
     * and servers.
     */
    public static final ChannelOption<RdmaOrTcpRule> TRANSPORT_RULE =
            valueOf(RdmaOrTcpChannelOption.class, "TRANSPORT_RULE");

    /**
     * Time for which a client waits for an answer to its attempt to connect over RDMA, in milliseconds, 0 to {@link
     * Integer#MAX_VALUE}. Default 0, which means 1000, and 3000 where the answer is one of this host, by shared memory,
     * as there it is known at once that nobody listens. Never more than half of {@link
     * ChannelOption#CONNECT_TIMEOUT_MILLIS}, unless that is 0 or TCP is not allowed. The time for which this process
     * prepares its end of the connection, loading classes for example, does not count.
     */
    public static final ChannelOption<Integer> RDMA_CONNECT_TIMEOUT_MILLIS =
            valueOf(RdmaOrTcpChannelOption.class, "RDMA_CONNECT_TIMEOUT_MILLIS");

    /**
     * For how long clients connect over TCP at once to a destination whose RDMA has failed, in milliseconds, 0 to
     * {@link Integer#MAX_VALUE}. 0 remembers nothing, and doesn't ask what others remember. Default 30000. That a
     * listener of this host did not answer in time is remembered for 1 s at most. When a server is down, so that TCP
     * fails too, or is restarted, so that a connection over RDMA ends, the next connect tries RDMA.
     */
    public static final ChannelOption<Integer> REMEMBER_MILLIS =
            valueOf(RdmaOrTcpChannelOption.class, "REMEMBER_MILLIS");

    /** Where a client's failures of RDMA are remembered. Default {@link RdmaOrTcpFailures#shared()}. */
    public static final ChannelOption<RdmaOrTcpFailures> FAILURES = valueOf(RdmaOrTcpChannelOption.class, "FAILURES");

    /**
     * Options of a server's connections. Each connection gets those that its class knows, before handlers see it.
     * {@code ServerBootstrap} sets those of {@code childOption} on all connections, and logs a warning for each one
     * that does not know such an option.
     */
    public static final ChannelOption<Map<ChannelOption<?>, Object>> CHILD_OPTIONS =
            valueOf(RdmaOrTcpChannelOption.class, "CHILD_OPTIONS");

    @SuppressWarnings({ "deprecation", "unused" }) // There is no other constructor, and no instance is made with it.
    private RdmaOrTcpChannelOption() {
        super(null);
    }
}
