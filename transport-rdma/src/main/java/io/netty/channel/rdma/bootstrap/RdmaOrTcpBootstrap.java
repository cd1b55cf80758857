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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.internal.ObjectUtil;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;

/**
 * Connects over RDMA if that is possible, else over TCP, to the same address. Used like a {@link Bootstrap}:
 * <pre>
 * EventLoopGroup group = RdmaOrTcp.newEventLoopGroup(0);
 * Future&lt;Channel&gt; connected = new RdmaOrTcpBootstrap().group(group).handler(new MyInitializer())
 *         .connect("10.0.0.1", 8080);
 * connected.sync().getNow().attr(RdmaOrTcp.TRANSPORT).get(); // RDMA or TCP
 * </pre>
 * RDMA gets {@link #rdmaConnectTimeout} to succeed, then TCP what is left of {@link
 * ChannelOption#CONNECT_TIMEOUT_MILLIS}, which bounds both together (after a host name is resolved). What is done when
 * the RDMA channel can't be connected:
 * <table>
 * <caption>Failures of RDMA</caption>
 * <tr><th>failure</th><th>{@link RdmaOrTcpFallbackReason}</th><th>TCP is tried</th><th>remembered</th></tr>
 * <tr><td>RDMA is not available in this process, or the event loop doesn't serve it</td>
 *     <td>{@code UNAVAILABLE}</td><td>yes</td><td>no need: known without trying</td></tr>
 * <tr><td>no RDMA device leads there, or none has the local address</td><td>{@code NO_ROUTE}</td><td>yes</td>
 *     <td>yes</td></tr>
 * <tr><td>nobody listens for RDMA there</td><td>{@code REFUSED}</td><td>yes</td><td>yes</td></tr>
 * <tr><td>no answer in time</td><td>{@code TIMEOUT}</td><td>yes</td><td>yes; of this host for 1 s</td></tr>
 * <tr><td>a listener that rejects: its backlog is full, it is out of memory, it wants another protocol, its native
 *     library is of another version</td>
 *     <td>{@code REJECTED}</td><td>yes</td><td>no: may be over already</td></tr>
 * <tr><td>no registered or direct memory left; other I/O errors: reset while connecting, an answer of another
 *     protocol</td>
 *     <td>{@code FAILED}</td><td>yes</td><td>no, unless it took half of the time for RDMA</td></tr>
 * <tr><td>an earlier attempt is remembered</td><td>{@code REMEMBERED}</td><td>yes; if that fails, RDMA after all</td>
 *     <td>as it was</td></tr>
 * <tr><td>a {@link RdmaOrTcpRule} of {@link RdmaOrTcpSocketChannel} says TCP</td><td>{@code RULE}</td><td>yes</td>
 *     <td>no</td></tr>
 * <tr><td>the host is unknown</td><td></td><td>no: the same for both</td><td>no</td></tr>
 * <tr><td>a value of an option that is out of range, or that the device can't do</td><td></td>
 *     <td>no: a mistake that is to be seen</td><td>no</td></tr>
 * <tr><td>the returned future is cancelled</td><td></td><td>no</td><td>no</td></tr>
 * <tr><td>the event loop is shut down</td><td></td><td>no</td><td>no</td></tr>
 * <tr><td>an exception of the application's handler</td><td></td><td>no: it has its channel already</td>
 *     <td>no</td></tr>
 * </table>
 * If TCP fails as well, the future fails with a {@link RdmaOrTcpConnectException}, and nothing is remembered: the peer
 * is down, which says nothing about RDMA.
 *
 * <h2>Which transport it was</h2>
 * The channel says so: its class, {@link RdmaOrTcp#TRANSPORT}, and {@link RdmaOrTcp#FALLBACK} with the reason. Each
 * connect is counted by {@link RdmaOrTcpMetrics} and logged with the time that it took, at debug level; at info level,
 * where a destination is connected over TCP for the first time or for another reason, and where it is over RDMA again.
 * If this process can't use RDMA at all, that is one warning.
 *
 * <p>A connection stays on its transport. {@link RdmaOrTcpFailures#probe} helps those that live long to find back to
 * RDMA.
 *
 * <h2>The handler</h2>
 * It is added to one channel, once that is connected: attempts that fail never see it. It gets {@code handlerAdded},
 * {@code channelRegistered} and {@code channelActive}, and between the latter two the future is completed; so an
 * initializer finds {@code channel.isActive()}, as that of a server does. It comes too late to intercept {@code bind}
 * and {@code connect}: <b>handlers that do so, such as those of proxies, need a {@link Bootstrap}</b>.
 *
 * <p>Both attempts run on one event loop of the group, which must serve TCP channels of epoll or of NIO, and should
 * serve RDMA's: see {@link RdmaOrTcp#newEventLoopGroup(int)}. Options that only one of the channel classes knows are
 * given to that one alone.
 *
 * <p>To be set up by one thread. After that, any thread may let it connect.
 */
public final class RdmaOrTcpBootstrap implements Cloneable {
    /** So that there is no overflow in nanoseconds. */
    private static final Duration MAX_DURATION = Duration.ofDays(365);

    private final Bootstrap template;
    private Duration rdmaConnectTimeout = ConnectPlan.Settings.BY_DESTINATION;
    private Duration rememberFor = ConnectPlan.Settings.DEFAULT_REMEMBER_FOR;
    private RdmaOrTcpFailures failures = RdmaOrTcpFailures.shared();

    public RdmaOrTcpBootstrap() {
        template = new Bootstrap();
    }

    private RdmaOrTcpBootstrap(RdmaOrTcpBootstrap other, Bootstrap template) {
        this.template = template;
        rdmaConnectTimeout = other.rdmaConnectTimeout;
        rememberFor = other.rememberFor;
        failures = other.failures;
    }

    /** See {@link Bootstrap#group(EventLoopGroup)}. */
    public RdmaOrTcpBootstrap group(EventLoopGroup group) {
        template.group(group);
        return this;
    }

    /** Added to the connected channel, as the class description says. */
    public RdmaOrTcpBootstrap handler(ChannelHandler handler) {
        template.handler(handler);
        return this;
    }

    /** See {@link Bootstrap#option}. For the channels of both transports, as far as they know it. */
    public <T> RdmaOrTcpBootstrap option(ChannelOption<T> option, T value) {
        template.option(option, value);
        return this;
    }

    /** See {@link Bootstrap#attr}. */
    public <T> RdmaOrTcpBootstrap attr(AttributeKey<T> key, T value) {
        template.attr(key, value);
        return this;
    }

    /** See {@link Bootstrap#localAddress(SocketAddress)}. */
    public RdmaOrTcpBootstrap localAddress(SocketAddress localAddress) {
        template.localAddress(localAddress);
        return this;
    }

    /** See {@link Bootstrap#resolver}. A name is resolved once, for both transports. */
    public RdmaOrTcpBootstrap resolver(AddressResolverGroup<?> resolver) {
        template.resolver(resolver);
        return this;
    }

    /**
     * How long to wait for an answer to an attempt to connect over RDMA, from 1 ms, rounded to these. Default 1 s; 3 s
     * where the answer is one of this host, by shared memory, as there it is known at once that nobody listens. Never
     * more than half of {@link ChannelOption#CONNECT_TIMEOUT_MILLIS}, unless that is 0. The time for which this process
     * prepares its end of the connection, loading classes for example, does not count.
     */
    public RdmaOrTcpBootstrap rdmaConnectTimeout(Duration timeout) {
        rdmaConnectTimeout = check("rdmaConnectTimeout", timeout, Duration.ofMillis(1));
        return this;
    }

    /**
     * For how long a destination whose RDMA has failed is connected over TCP at once. 0 remembers nothing, and doesn't
     * ask what others remember. Default 30 s. That a listener of this host did not answer in time is remembered for 1 s
     * at most. When a server is down, so that TCP fails too, or is restarted, so that a connection over RDMA ends, the
     * next connect tries RDMA.
     */
    public RdmaOrTcpBootstrap rememberFor(Duration time) {
        rememberFor = check("rememberFor", time, Duration.ZERO);
        return this;
    }

    static Duration check(String name, Duration value, Duration min) {
        ObjectUtil.checkNotNull(value, name);
        if (value.compareTo(min) < 0 || value.compareTo(MAX_DURATION) > 0) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: " + min + " to " + MAX_DURATION +
                    ')');
        }
        return value;
    }

    /** Where failures of RDMA are remembered. Default {@link RdmaOrTcpFailures#shared()}. */
    public RdmaOrTcpBootstrap failures(RdmaOrTcpFailures failures) {
        this.failures = ObjectUtil.checkNotNull(failures, "failures");
        return this;
    }

    /** As {@link #connect(SocketAddress)}. */
    public Future<Channel> connect(String host, int port) {
        return connect(InetSocketAddress.createUnresolved(host, port));
    }

    /** As {@link #connect(SocketAddress)}. */
    public Future<Channel> connect(InetAddress host, int port) {
        return connect(new InetSocketAddress(host, port));
    }

    /**
     * Connects.
     *
     * @param address an {@link InetSocketAddress}, resolved or not.
     * @return the connected channel, to be closed by the application. What listens to the future is called on its event
     *         loop. Cancelling the future ends the attempt that is under way.
     * @throws IllegalStateException    if group or handler is missing.
     * @throws IllegalArgumentException if the event loops can't have TCP channels, or the address is of another kind.
     */
    public Future<Channel> connect(SocketAddress address) {
        return connect(address, template.config().localAddress());
    }

    /**
     * As {@link #connect(SocketAddress)}, from this local address ({@code null} for any).
     */
    public Future<Channel> connect(SocketAddress address, SocketAddress localAddress) {
        ObjectUtil.checkNotNull(address, "address");
        if (!(address instanceof InetSocketAddress)) {
            throw new IllegalArgumentException("address: " + address + " (expected: an InetSocketAddress)");
        }
        EventLoopGroup group = template.config().group();
        if (group == null || template.config().handler() == null) {
            throw new IllegalStateException((group == null ? "group" : "handler") + " not set");
        }
        EventLoop loop = group.next();
        ConnectAttempt attempt = new ConnectAttempt(template.clone(loop), rdmaConnectTimeout, rememberFor, failures,
                (InetSocketAddress) address, localAddress);
        try {
            loop.execute(attempt::start);
        } catch (RejectedExecutionException e) {
            // Not the promise: nobody would notify its listeners.
            return GlobalEventExecutor.INSTANCE.newFailedFuture(e);
        }
        return attempt.future();
    }

    /** A copy, with the same group and handler. */
    @Override
    @SuppressWarnings("CloneDoesntCallSuperClone")
    public RdmaOrTcpBootstrap clone() {
        return new RdmaOrTcpBootstrap(this, template.clone());
    }

    /** A copy with another group. */
    public RdmaOrTcpBootstrap clone(EventLoopGroup group) {
        return new RdmaOrTcpBootstrap(this, template.clone(ObjectUtil.checkNotNull(group, "group")));
    }

    @Override
    public String toString() {
        return "RdmaOrTcpBootstrap(" + template + ", rdmaConnectTimeout: " + rdmaConnectTimeout + ", rememberFor: " +
                rememberFor + ')';
    }
}
