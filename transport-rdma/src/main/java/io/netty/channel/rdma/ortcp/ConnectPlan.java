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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.attempt.AttemptFailure;
import io.netty.channel.rdma.attempt.AttemptPlan;
import io.netty.channel.rdma.attempt.AttemptRules;
import io.netty.channel.rdma.attempt.Destination;
import io.netty.channel.rdma.monitor.TcpDestination;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.util.NetUtil;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * One connect. Chooses the next transport and its time by the rules of {@link AttemptPlan}, and logs and counts the
 * result. {@link RdmaOrTcpSocketChannel} has a table of the rules. The channel makes the attempts, one after the other.
 * On the event loop of the connection.
 */
abstract class ConnectPlan {
    private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaOrTcpSocketChannel.class);

    private final EventLoop loop;
    private final Settings settings;
    final InetSocketAddress remote;
    /** The application's local address, or {@code null}. */
    private final SocketAddress local;
    private final Destination destination;
    private final RdmaOrTcpChoice choice;
    private AttemptPlan<RdmaOrTcpTransport> plan;
    /** The reason for TCP. */
    private RdmaOrTcpFallback fallback;
    private Throwable rdmaCause;
    /** Failure of TCP, if RDMA is tried after it. */
    private Throwable tcpCause;

    /** Settings of the application. */
    static final class Settings {
        /** Kernel verbs need milliseconds, but have no error for a host that runs and has no RDMA. */
        private static final int DEFAULT_RDMA_CONNECT_TIMEOUT_MILLIS = 1000;
        /**
         * With shared memory a connect fails at once if no process listens. So a listener that does not answer is a JVM
         * that is starting, has few processors or is stopped.
         */
        private static final int DEFAULT_CONNECT_TIMEOUT_OF_THIS_HOST_MILLIS = 3000;
        /**
         * Time for which clients do not try a silent listener of this host again; no longer than an attempt may take.
         */
        private static final int REMEMBER_SILENCE_OF_THIS_HOST_MILLIS = 1000;
        static final int DEFAULT_REMEMBER_MILLIS = 30000;
        static final RdmaOrTcpRule DEFAULT_RULE = RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_OR_TCP);
        private static final List<ChannelOption<?>> RESTRICTIONS = List.of(RdmaChannelOption.PROVIDERS,
                RdmaChannelOption.DEVICE, RdmaChannelOption.DEVICE_PORT, RdmaChannelOption.GID_INDEX);

        private final int connectTimeoutMillis;
        /** 0 stands for one of the defaults above, by the destination. */
        private final int rdmaConnectTimeoutMillis;
        private final int rememberMillis;
        final RdmaOrTcpFailures failures;
        final RdmaOrTcpRule rule;
        /** A part of {@link Destination#from()}. */
        private final Map<ChannelOption<?>, Object> restrictions;

        /** @param options of the channel, among others those that restrict the providers of RDMA. */
        Settings(int connectTimeoutMillis, int rdmaConnectTimeoutMillis, int rememberMillis,
                 RdmaOrTcpFailures failures, RdmaOrTcpRule rule, Map<ChannelOption<?>, ?> options) {
            this.connectTimeoutMillis = connectTimeoutMillis;
            this.rdmaConnectTimeoutMillis = rdmaConnectTimeoutMillis;
            this.rememberMillis = rememberMillis;
            this.failures = failures;
            this.rule = rule;
            restrictions = new HashMap<>();
            for (ChannelOption<?> option : RESTRICTIONS) {
                if (options.containsKey(option)) {
                    restrictions.put(option, options.get(option));
                }
            }
        }

        /** @param local or {@code null}. */
        Destination destination(InetSocketAddress remote, SocketAddress local) {
            InetAddress from = local instanceof InetSocketAddress ? ((InetSocketAddress) local).getAddress() : null;
            boolean anywhere = from == null || from.isAnyLocalAddress();
            return new Destination(remote, anywhere && restrictions.isEmpty() ? null :
                    Arrays.asList(anywhere ? null : from, restrictions));
        }

        /** @param rdma whether RDMA is tried; failures of TCP are not remembered. */
        AttemptPlan.Times times(boolean rdma, InetSocketAddress remote) {
            boolean thisHost = rdma && isOfThisHost(remote);
            int remember = rdma ? rememberMillis : 0;
            return new AttemptPlan.Times(connectTimeoutMillis * NANOS_PER_MILLI,
                    rdmaTimeoutMillis(thisHost) * NANOS_PER_MILLI, remember * NANOS_PER_MILLI,
                    (thisHost ? Math.min(remember, REMEMBER_SILENCE_OF_THIS_HOST_MILLIS) : remember) * NANOS_PER_MILLI);
        }

        /** The time for an attempt over RDMA alone. */
        int rdmaTimeoutMillis(InetSocketAddress remote) {
            return rdmaTimeoutMillis(isOfThisHost(remote));
        }

        private int rdmaTimeoutMillis(boolean thisHost) {
            return rdmaConnectTimeoutMillis != 0 ? rdmaConnectTimeoutMillis :
                    thisHost ? DEFAULT_CONNECT_TIMEOUT_OF_THIS_HOST_MILLIS : DEFAULT_RDMA_CONNECT_TIMEOUT_MILLIS;
        }

        /** Returns whether the answer comes by shared memory. */
        private boolean isOfThisHost(InetSocketAddress remote) {
            boolean sharedMemory = false;
            boolean device = false;
            Object allowed = restrictions.get(RdmaChannelOption.PROVIDERS);
            for (VerbsApi verbs : VerbsApi.usable()) {
                if (allowed == null || ((Set<?>) allowed).contains(verbs.provider())) {
                    sharedMemory |= verbs.provider() == VerbsProvider.EMBEDDED;
                    device |= verbs.provider() == VerbsProvider.IBVERBS;
                }
            }
            return sharedMemory && (!device || isOwn(remote.getAddress()));
        }

        /** Uses the addresses that this host had when Netty was loaded, so that no event loop asks the kernel. */
        private static boolean isOwn(InetAddress address) {
            return address.isLoopbackAddress() || address.isAnyLocalAddress() || NetUtil.NETWORK_INTERFACES.stream()
                    .flatMap(NetworkInterface::inetAddresses).anyMatch(address::equals);
        }

        /** Sets the options that restrict the providers of RDMA. */
        @SuppressWarnings("unchecked")
        void restrict(Bootstrap bootstrap) {
            restrictions.forEach((option, value) -> bootstrap.option((ChannelOption<Object>) option, value));
        }
    }

    /**
     * @param remote resolved.
     * @param local  that the application has asked for, or {@code null}.
     */
    ConnectPlan(EventLoop loop, Settings settings, InetSocketAddress remote, SocketAddress local) {
        this.loop = loop;
        this.settings = settings;
        this.remote = remote;
        this.local = local;
        destination = settings.destination(remote, local);
        choice = Objects.requireNonNull(settings.rule.choose(remote), "what the rule has chosen");
    }

    /**
     * Connects over this transport. Calls {@link #failed} after a failure, also of this call, and {@link #connected}
     * after a success.
     *
     * @param timeoutMillis 0 for no limit.
     */
    protected abstract void attempt(RdmaOrTcpTransport transport, int timeoutMillis);

    /** Fails the connect: no attempt is left. */
    protected abstract void fail(Throwable cause);

    /**
     * Makes the first attempt.
     *
     * @param known the reason for TCP, if RDMA is known to fail; else {@code null}.
     */
    final void start(RdmaOrTcpFallback known) {
        fallback = known;
        if (choice == RdmaOrTcpChoice.TCP_ONLY) {
            fallback = new RdmaOrTcpFallback(RdmaOrTcpFallback.Reason.RULE, "the rule for " + remote + " is " + choice);
        } else {
            Throwable unavailable = ChannelTypes.rdmaUnavailabilityCause(loop);
            if (unavailable != null) {
                rdmaCause = unavailable;
                fallback = new RdmaOrTcpFallback(RdmaOrTcpFallback.Reason.UNAVAILABLE, message(unavailable));
                if (choice != RdmaOrTcpChoice.RDMA_ONLY) {
                    FallbackLog.PROCESS.unavailable(unavailable);
                }
            }
        }
        if (fallback != null && choice == RdmaOrTcpChoice.RDMA_ONLY) {
            ConnectException failure = new ConnectException("cannot connect to " + remote + " over RDMA: " + fallback);
            failure.initCause(rdmaCause);
            failFinally(failure);
            return;
        }
        plan = new AttemptPlan<>(AttemptRules.TRANSPORTS, transports(), destination, settings.failures.memory(),
                settings.times(fallback == null, remote), loop.ticker());
        if (plan.remembered() != null) {
            fallback = RdmaOrTcpFailures.fallback(plan.remembered());
        }
        next();
    }

    /** The transports that the choice allows, in their order. */
    private List<RdmaOrTcpTransport> transports() {
        if (fallback != null) {
            return List.of(RdmaOrTcpTransport.TCP);
        }
        return choice == RdmaOrTcpChoice.RDMA_ONLY ? List.of(RdmaOrTcpTransport.RDMA) :
                List.of(RdmaOrTcpTransport.RDMA, RdmaOrTcpTransport.TCP);
    }

    private void next() {
        RdmaOrTcpTransport transport = plan.next();
        if (transport == RdmaOrTcpTransport.TCP) {
            RdmaOrTcpMetrics.total().fellBack(remote, fallback.reason());
        }
        attempt(transport, (int) Math.min(Integer.MAX_VALUE,
                (plan.limitNanos() + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI));
    }

    /** Goes on after an attempt that has failed, and was not cancelled. */
    final void failed(RdmaOrTcpTransport transport, Throwable cause) {
        if (loop.isShuttingDown()) {
            fail(cause);
        } else if (transport == RdmaOrTcpTransport.RDMA) {
            rdmaFailed(cause);
        } else if (cause instanceof IOException || cause instanceof ChannelException) {
            // A ChannelException comes when no channel can be made, for example for lack of descriptors.
            tcpFailed(cause);
        } else {
            fail(cause);
        }
    }

    private void rdmaFailed(Throwable cause) {
        RdmaOrTcpFallback.Reason reason = RdmaOrTcpFallback.Reason.of(cause);
        if (reason == null) {
            fail(cause);
            return;
        }
        fallback = new RdmaOrTcpFallback(reason, message(cause));
        rdmaCause = cause;
        if (plan.failed(AttemptFailure.of(cause), fallback)) {
            next();
        } else if (tcpCause == null) {
            failFinally(cause);
        } else {
            failBoth();
        }
    }

    private void tcpFailed(Throwable cause) {
        tcpCause = cause;
        if (plan.failed(AttemptFailure.of(cause), cause)) {
            // The remembered failure is out of date, because TCP worked then; or the server is down.
            logger.debug("{}: TCP failed, trying RDMA, which was remembered to fail", remote, cause);
            next();
        } else if (choice == RdmaOrTcpChoice.TCP_ONLY) {
            failFinally(cause);
        } else {
            failBoth();
        }
    }

    private void failBoth() {
        failFinally(new RdmaOrTcpConnectException(remote, fallback, rdmaCause, tcpCause));
    }

    private void failFinally(Throwable cause) {
        RdmaOrTcpMetrics.total().failed();
        fail(cause);
    }

    /** Sets the attributes of a connected channel, and remembers its transport. */
    final void mark(Channel channel, RdmaOrTcpTransport transport) {
        channel.attr(RdmaOrTcp.TRANSPORT).set(transport);
        if (transport == RdmaOrTcpTransport.RDMA) {
            // Even if RDMA was tried after TCP.
            plan.connected();
            // The next peer may be another process, for example a restarted server.
            channel.closeFuture().addListener(closed -> plan.forget());
        } else {
            channel.attr(RdmaOrTcp.FALLBACK).set(fallback);
            Probes probes = settings.failures.probes();
            if (probes != null && mayPass(fallback.reason())) {
                probes.watch(channel, loop, settings, destination, local);
            }
        }
    }

    /** Returns whether RDMA may work later. */
    private static boolean mayPass(RdmaOrTcpFallback.Reason reason) {
        return reason != RdmaOrTcpFallback.Reason.UNAVAILABLE && reason != RdmaOrTcpFallback.Reason.RULE;
    }

    /** Counts and logs the connection, just before the application is told. */
    final void connected(Channel channel, RdmaOrTcpTransport transport) {
        RdmaOrTcpMetrics.total().connected(transport);
        InternalLogLevel level = isChange(channel, transport) ? FallbackLog.PROCESS.levelOfChange() :
                InternalLogLevel.DEBUG;
        if (logger.isEnabled(level)) {
            logger.log(level, "{}: connected over {} in {} us{}: {}", remote, transport,
                    TimeUnit.NANOSECONDS.toMicros(plan.elapsedNanos()),
                    transport == RdmaOrTcpTransport.TCP ? " (RDMA: " + fallback + ')' : "", channel);
        }
    }

    /**
     * Returns whether the transport of the destination has changed: to TCP, to another reason for TCP, or back to RDMA.
     */
    private boolean isChange(Channel channel, RdmaOrTcpTransport transport) {
        if (transport == RdmaOrTcpTransport.RDMA) {
            return TcpDestination.connectedByRdma(remote);
        }
        RdmaOrTcpFallback why = plan.remembered() == null || fallback.reason() != RdmaOrTcpFallback.Reason.REMEMBERED ?
                fallback : (RdmaOrTcpFallback) plan.remembered().why();
        TcpDestination.Connected connected = TcpDestination.connected(remote,
                why.reason().name().toLowerCase(Locale.ROOT), why.message());
        channel.closeFuture().addListener(closed -> connected.closed());
        return connected.isNew() && mayPass(why.reason());
    }

    static String message(Throwable cause) {
        return cause.getMessage() != null ? cause.getMessage() : cause.toString();
    }
}
