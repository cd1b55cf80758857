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
package io.netty.channel.rdma.agent.hooks;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.unix.UnixChannelOption;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Translates options of NIO and io_uring to epoll's options of the same name, which channels for RDMA know if RDMA has
 * an equivalent. Also replaces allocators whose buffers would be copied.
 */
final class TranslatedOptions {
    private static final String RDMA_PACKAGE = "io.netty.channel.rdma.";
    /** The names of the JDK ({@code ExtendedSocketOptions}) that are not those of tcp(7). */
    private static final Map<String, String> NAMES =
            Map.of("TCP_KEEPINTERVAL", "TCP_KEEPINTVL", "TCP_KEEPCOUNT", "TCP_KEEPCNT");
    /** To use an option initialises its class, after which the options of epoll's transport are known by name. */
    private static final List<String> PREFIXES = List.of(prefix(EpollChannelOption.TCP_KEEPIDLE),
            prefix(UnixChannelOption.SO_REUSEPORT), "");
    /** By name, because the class path may not have io_uring. */
    private static final Set<String> OF_TCP = Set.of("io.netty.channel.epoll.EpollChannelOption",
            "io.netty.channel.unix.UnixChannelOption", "io.netty.channel.unix.IntegerUnixChannelOption",
            "io.netty.channel.unix.RawUnixChannelOption", "io.netty.channel.uring.IoUringChannelOption",
            "io.netty.channel.socket.nio.NioChannelOption");
    private static final Set<Class<?>> STOCK_ALLOCATORS = Set.of(PooledByteBufAllocator.class,
            AdaptiveByteBufAllocator.class, UnpooledByteBufAllocator.class);

    private TranslatedOptions() { }

    private static String prefix(ChannelOption<?> option) {
        return option.name().substring(0, option.name().lastIndexOf('#') + 1);
    }

    static boolean isOfRdma(ChannelConfig config) {
        return config.getClass().getName().startsWith(RDMA_PACKAGE);
    }

    /**
     * Sets epoll's option of the same name on a channel for RDMA. The program's option stays set, for TCP. An option of
     * TCP without an equivalent for RDMA counts as known, without an effect.
     *
     * @param known whether the channel knows the option itself.
     */
    static boolean setLike(ChannelConfig config, ChannelOption<?> option, Object value, boolean known) {
        int hash = option.name().lastIndexOf('#');
        // Options that were made by name are of the class ChannelOption.
        if (!OF_TCP.contains(option.getClass().getName()) &&
                (hash < 0 || !OF_TCP.contains(option.name().substring(0, hash)))) {
            return false;
        }
        String name = option.name().substring(hash + 1);
        name = NAMES.getOrDefault(name, name);
        for (String prefix : PREFIXES) {
            if (ChannelOption.exists(prefix + name)) {
                ChannelOption<Object> like = ChannelOption.valueOf(prefix + name);
                if (like != option && config.setOption(like, value)) {
                    return true;
                }
            }
        }
        if (!known) {
            Report.withoutLike(name);
        }
        return true;
    }

    /**
     * Returns whether the option is one of Netty's allocators with direct buffers, which programs set as the fastest
     * for TCP. The allocator of a channel for RDMA gives the same kind of buffers, in registered memory.
     */
    static boolean isStockAllocator(ChannelOption<?> option, Object value) {
        if (option != ChannelOption.ALLOCATOR || value == null || !STOCK_ALLOCATORS.contains(value.getClass())) {
            return false;
        }
        ByteBuf sample = ((ByteBufAllocator) value).buffer(1);
        try {
            return sample.isDirect();
        } finally {
            sample.release();
        }
    }

    /** Gives a stream of HTTP/2, a channel with Netty's default allocator, the allocator of its connection. */
    static void inheritAllocator(Channel channel) {
        Channel parent = channel.parent();
        if (parent != null && !(parent instanceof ServerChannel) && isOfRdma(parent.config()) &&
                isStockAllocator(ChannelOption.ALLOCATOR, channel.config().getAllocator())) {
            channel.config().setAllocator(parent.alloc());
        }
    }
}
