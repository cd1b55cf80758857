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
package io.netty.channel.rdma.bootstrap;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.ObjectUtil;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/**
 * Listens for RDMA and for TCP at the same address and port, with the same event loops and handlers. Used like a {@link
 * ServerBootstrap}:
 * <pre>
 * EventLoopGroup group = RdmaOrTcp.newEventLoopGroup(0);
 * RdmaOrTcpServer server = new RdmaOrTcpServerBootstrap().group(group).childHandler(new MyInitializer())
 *         .bind("10.0.0.1", 8080).sync().getNow();
 * </pre>
 * Where RDMA is not available it listens for TCP alone and logs the reason, unless {@link #require} says that this is a
 * failure. Not available means: not in this process ({@link io.netty.channel.rdma.Rdma#isAvailable()}), not on these
 * event loops, or the address is of no RDMA device. Everything else that goes wrong, such as a port that is in use,
 * fails the bind, and then neither listens.
 *
 * <p>Options that only one of the channel classes knows are given to that one alone. The handlers are added to several
 * channels: {@code handler} to both listeners, {@code childHandler} to each connection. A connection's transport is
 * told by its class and by {@link RdmaOrTcp#TRANSPORT}.
 *
 * <p>To be set up by one thread. After that, any thread may let it bind.
 */
public final class RdmaOrTcpServerBootstrap implements Cloneable {
    private final ServerBootstrap template;
    private final Set<RdmaOrTcpTransport> required;

    public RdmaOrTcpServerBootstrap() {
        template = new ServerBootstrap();
        required = EnumSet.of(RdmaOrTcpTransport.TCP);
    }

    private RdmaOrTcpServerBootstrap(RdmaOrTcpServerBootstrap other) {
        template = other.template.clone();
        required = EnumSet.copyOf(other.required);
    }

    /** See {@link ServerBootstrap#group(EventLoopGroup)}. */
    public RdmaOrTcpServerBootstrap group(EventLoopGroup group) {
        template.group(group);
        return this;
    }

    /**
     * See {@link ServerBootstrap#group(EventLoopGroup, EventLoopGroup)}. Both must serve the same kinds of channels.
     *
     * @param parent for the listeners; each gets an event loop of it.
     * @param child  for the connections.
     */
    public RdmaOrTcpServerBootstrap group(EventLoopGroup parent, EventLoopGroup child) {
        template.group(parent, child);
        return this;
    }

    /** See {@link ServerBootstrap#handler}. Must be sharable, or a {@link io.netty.channel.ChannelInitializer}. */
    public RdmaOrTcpServerBootstrap handler(ChannelHandler handler) {
        template.handler(handler);
        return this;
    }

    /** See {@link ServerBootstrap#childHandler}. */
    public RdmaOrTcpServerBootstrap childHandler(ChannelHandler childHandler) {
        template.childHandler(childHandler);
        return this;
    }

    /** See {@link ServerBootstrap#option}. For both listeners, as far as they know it. */
    public <T> RdmaOrTcpServerBootstrap option(ChannelOption<T> option, T value) {
        template.option(option, value);
        return this;
    }

    /** See {@link ServerBootstrap#childOption}. For all connections, as far as they know it. */
    public <T> RdmaOrTcpServerBootstrap childOption(ChannelOption<T> option, T value) {
        template.childOption(option, value);
        return this;
    }

    /** See {@link ServerBootstrap#attr}. */
    public <T> RdmaOrTcpServerBootstrap attr(AttributeKey<T> key, T value) {
        template.attr(key, value);
        return this;
    }

    /** See {@link ServerBootstrap#childAttr}. */
    public <T> RdmaOrTcpServerBootstrap childAttr(AttributeKey<T> key, T value) {
        template.childAttr(key, value);
        return this;
    }

    /**
     * Which transports there must be: {@link #bind} fails if one is not available. TCP always must be.
     */
    public RdmaOrTcpServerBootstrap require(RdmaOrTcpTransport... transports) {
        required.addAll(Arrays.asList(transports));
        return this;
    }

    /** As {@link #bind(SocketAddress)}, to the wildcard address. */
    public Future<RdmaOrTcpServer> bind(int port) {
        return bind(new InetSocketAddress(port));
    }

    /** As {@link #bind(SocketAddress)}. */
    public Future<RdmaOrTcpServer> bind(String host, int port) {
        return bind(new InetSocketAddress(host, port));
    }

    /** As {@link #bind(SocketAddress)}. */
    public Future<RdmaOrTcpServer> bind(InetAddress host, int port) {
        return bind(new InetSocketAddress(host, port));
    }

    /**
     * Listens.
     *
     * @param address a resolved {@link InetSocketAddress}; with port 0, at a port that is free for both. RDMA listens
     *                where TCP then does: Netty's TCP channels take the wildcard address of IPv4 for that of IPv6,
     *                which stands for both.
     * @return the listeners, to be closed by the application. What listens to the future is called by Netty's {@link
     *         io.netty.util.concurrent.GlobalEventExecutor}, as there may be two event loops.
     * @throws IllegalStateException    if a group or {@code childHandler} is missing.
     * @throws IllegalArgumentException if the event loops can't have TCP channels, or the address is of another kind.
     */
    public Future<RdmaOrTcpServer> bind(SocketAddress address) {
        ObjectUtil.checkNotNull(address, "address");
        if (!(address instanceof InetSocketAddress)) {
            throw new IllegalArgumentException("address: " + address + " (expected: an InetSocketAddress)");
        }
        if (template.config().group() == null || template.config().childHandler() == null) {
            throw new IllegalStateException(
                    (template.config().group() == null ? "group" : "childHandler") + " not set");
        }
        boolean rdmaRequired = required.contains(RdmaOrTcpTransport.RDMA);
        return new BindAttempt(template.clone(), rdmaRequired, (InetSocketAddress) address).start();
    }

    /** A copy, with the same groups and handlers. */
    @Override
    @SuppressWarnings("CloneDoesntCallSuperClone")
    public RdmaOrTcpServerBootstrap clone() {
        return new RdmaOrTcpServerBootstrap(this);
    }

    @Override
    public String toString() {
        return "RdmaOrTcpServerBootstrap(" + template + ", required: " + required + ')';
    }
}
