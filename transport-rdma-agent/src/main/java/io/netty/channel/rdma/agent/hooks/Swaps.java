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

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.IoHandler;
import io.netty.channel.ReflectiveChannelFactory;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.RdmaIoHandlerConfig;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.netty.util.internal.PlatformDependent;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Handlers and channels that replace those that a program has asked for. Only exact classes are swapped, because a
 * class that a program has derived may behave differently.
 */
final class Swaps {
    private static final Supplier<Channel> CLIENT = () -> new RdmaOrTcpSocketChannel(Rules::ofClient);
    private static final Supplier<Channel> SERVER = () -> new RdmaOrTcpServerSocketChannel(Rules::ofServer);
    /** A proxy connects with the class that it has accepted, so RdmaSocketChannel gets a client that can use TCP. */
    private static final Map<Class<?>, Supplier<Channel>> CHANNELS = Map.of(
            NioSocketChannel.class, CLIENT, EpollSocketChannel.class, CLIENT, RdmaSocketChannel.class, CLIENT,
            NioServerSocketChannel.class, SERVER, EpollServerSocketChannel.class, SERVER);
    /** The field with a factory's constructor, and so the class of its channels; {@code null} without access. */
    private static final Field CONSTRUCTOR = constructor();

    private Swaps() { }

    /** RDMA is required, but not possible. */
    static final class RequiredException extends ChannelException {
        private static final long serialVersionUID = 4231059842714013337L;

        RequiredException(String reason) {
            super("RDMA is required by the options of netty-transport-rdma-agent, and can't be had: " + reason);
        }
    }

    private static Field constructor() {
        try {
            Field field = ReflectiveChannelFactory.class.getDeclaredField("constructor");
            field.setAccessible(true);
            return field;
        } catch (ReflectiveOperationException | RuntimeException e) {
            return null;
        }
    }

    /** Returns a handler around the program's handler. */
    static IoHandler around(IoHandler handler, ThreadAwareExecutor executor) {
        Class<?> type = handler.getClass();
        if (type == LocalIoHandler.class || type == RdmaIoHandler.class) {
            return handler;
        }
        if (type != EpollIoHandler.class && type != NioIoHandler.class) {
            Report.kept(type.getName(), "it is no handler that the agent knows");
            return handler;
        }
        if (!Rdma.isAvailable()) {
            Report.kept(type.getName(), Report.message(Rdma.unavailabilityCause()));
            return handler;
        }
        if (type == NioIoHandler.class && !PlatformDependent.hasUnsafe()) {
            // For the reflection in io.netty.channel.rdma.loop.NioChannels. To open a package takes 6 ms of a start.
            Shared.SELECTORS.accept(Swaps.class.getModule());
        }
        IoHandler around = RdmaIoHandler.newFactory(new RdmaIoHandlerConfig(), ignored -> handler).newHandler(executor);
        Report.swapped(type.getName(), RdmaIoHandler.class);
        return around;
    }

    /** Returns a channel in place of the one that the factory would make, or {@code null} if its class is not known. */
    static Channel insteadOf(Object factory) throws IllegalAccessException {
        if (CONSTRUCTOR == null || factory.getClass() != ReflectiveChannelFactory.class) {
            return null;
        }
        Class<?> type = ((Constructor<?>) CONSTRUCTOR.get(factory)).getDeclaringClass();
        return isSwapped(type) ? make(type) : null;
    }

    /** Returns a channel in place of one that the program's factory has made, or that channel. */
    static Channel inPlaceOf(Channel channel) {
        Class<?> type = channel.getClass();
        // A channel with an address has an open socket already. A channel with a handler was changed by its factory.
        if (channel.localAddress() != null || channel.pipeline().first() != null || !isSwapped(type)) {
            return channel;
        }
        Channel swapped = make(type);
        channel.unsafe().closeForcibly();
        return swapped;
    }

    private static Channel make(Class<?> type) {
        Channel channel = CHANNELS.get(type).get();
        Report.swapped(type.getName(), channel.getClass());
        return channel;
    }

    private static boolean isSwapped(Class<?> type) {
        if (!CHANNELS.containsKey(type)) {
            if ((SocketChannel.class.isAssignableFrom(type) || ServerSocketChannel.class.isAssignableFrom(type)) &&
                    !type.getName().startsWith("io.netty.channel.rdma.")) {
                stays(type, "it is no class that the agent knows");
            }
            return false;
        }
        String cast = Shared.CASTS.get(type.getName());
        String reason = cast != null ? cast : Rdma.isAvailable() ? null : Report.message(Rdma.unavailabilityCause());
        if (reason == null) {
            Shared.SWAPPED.add(type.getName());
            return true;
        }
        stays(type, reason);
        return false;
    }

    private static void stays(Class<?> type, String reason) {
        Report.kept(type.getName(), reason);
        if (Shared.OPTIONS.isRequire()) {
            throw new RequiredException(type.getName() + " stays as it is: " + reason);
        }
    }
}
