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

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.ReflectiveChannelFactory;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaChannelOption;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Remembers which channel classes know an option. Netty warns of each option that a channel doesn't know. Here that is
 * a mistake only if none of the classes knows it.
 */
final class KnownOptions {
    private static final String RDMA_PREFIX = RdmaChannelOption.class.getName() + '#';
    /** By channel class. Weak, because an application may make new options at any time. */
    private static final Map<Class<?>, Map<ChannelOption<?>, Boolean>> KNOWN = new ConcurrentHashMap<>();

    private KnownOptions() { }

    static boolean isKnownToAConnection(ChannelOption<?> option, Object value) {
        return isKnown(ChannelTypes.RDMA.connection, option, value) ||
                isKnown(ChannelTypes.anyTcp().connection, option, value) ||
                isKnown(ChannelTypes.NIO.connection, option, value);
    }

    static boolean isKnownToAListener(ChannelOption<?> option, Object value) {
        return isKnown(ChannelTypes.RDMA.listener, option, value) ||
                isKnown(ChannelTypes.anyTcp().listener, option, value) ||
                isKnown(ChannelTypes.NIO.listener, option, value);
    }

    private static boolean isKnown(Class<? extends Channel> type, ChannelOption<?> option, Object value) {
        Map<ChannelOption<?>, Boolean> known =
                KNOWN.computeIfAbsent(type, t -> Collections.synchronizedMap(new WeakHashMap<>()));
        Boolean result = known.get(option);
        if (result == null) {
            result = ask(type, option, value);
            known.put(option, result);
        }
        return result;
    }

    /** Sets the option on a new channel, because a configuration does not list all options that it accepts. */
    @SuppressWarnings("unchecked")
    private static boolean ask(Class<? extends Channel> type, ChannelOption<?> option, Object value) {
        if (!Rdma.isAvailable() && ChannelTypes.isRdma(type)) {
            // RDMA channels can't be made. Their other options are known to the TCP channels as well.
            return option.name().startsWith(RDMA_PREFIX);
        }
        Channel channel = new ReflectiveChannelFactory<>(type).newChannel();
        try {
            return channel.config().setOption((ChannelOption<Object>) option, value);
        } catch (Exception e) {
            // A bad value of a known option. The channel that gets the option reports it.
            return true;
        } finally {
            channel.unsafe().closeForcibly();
        }
    }
}
