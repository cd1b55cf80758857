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
     * Integer#MAX_VALUE}. Default 0, which means 1000, or 3000 if the answer comes from this host by shared memory,
     * where a missing listener is known at once. Never more than half of {@link ChannelOption#CONNECT_TIMEOUT_MILLIS},
     * unless that is 0 or TCP is not allowed. Time in which this process prepares its end of the connection, for
     * example loads classes, does not count.
     */
    public static final ChannelOption<Integer> RDMA_CONNECT_TIMEOUT_MILLIS =
            valueOf(RdmaOrTcpChannelOption.class, "RDMA_CONNECT_TIMEOUT_MILLIS");

    /**
     * Time for which clients connect directly over TCP to a destination where RDMA has failed, in milliseconds, 0 to
     * {@link Integer#MAX_VALUE}. 0 remembers nothing, and ignores the memory of others. Default 30000. A listener of
     * this host that did not answer in time is remembered for at most 1 s. When a server is down, so that TCP fails
     * too, or is restarted, so that a connection over RDMA ends, the next connect tries RDMA.
     */
    public static final ChannelOption<Integer> REMEMBER_MILLIS =
            valueOf(RdmaOrTcpChannelOption.class, "REMEMBER_MILLIS");

    /** The memory of a client's failures of RDMA. Default {@link RdmaOrTcpFailures#shared()}. */
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
