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
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * One connect of a {@link RdmaOrTcpBootstrap}: at most one attempt after the other, all on one event loop.
 */
final class ConnectAttempt {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaOrTcpBootstrap.class);
    /** That of {@code DefaultChannelConfig}. */
    private static final int DEFAULT_CONNECT_TIMEOUT_MILLIS = 30000;

    private final Bootstrap template;
    private final EventLoop loop;
    private final ChannelTypes tcp;
    private final Promise<Channel> promise;
    private final Duration rdmaConnectTimeout;
    private final Duration rememberFor;
    private final RdmaOrTcpPaths paths;
    private final SocketAddress local;
    private final InetSocketAddress requested;
    private InetSocketAddress remote;
    private long startNanos;
    /** Of the attempt under way. */
    private Channel channel;
    /** Why RDMA does not do. */
    private Fallback fallback;
    private Throwable rdmaCause;
    /** How TCP has failed, if RDMA is tried after it. */
    private Throwable tcpCause;

    /**
     * @param template all but the channel class; its group is the event loop, its handler the application's.
     */
    ConnectAttempt(Bootstrap template, Duration rdmaConnectTimeout, Duration rememberFor, RdmaOrTcpPaths paths,
                   InetSocketAddress remote, SocketAddress local) {
        this.template = template;
        this.rdmaConnectTimeout = rdmaConnectTimeout;
        this.rememberFor = rememberFor;
        this.paths = paths;
        this.local = local;
        requested = remote;
        loop = (EventLoop) template.config().group();
        tcp = ChannelTypes.tcp(loop);
        promise = loop.newPromise();
    }

    Future<Channel> future() {
        return promise;
    }

    void start() {
        promise.addListener(future -> {
            if (future.isCancelled() && channel != null) {
                channel.close();
            }
        });
        if (promise.isDone()) {
            return;
        }
        try {
            resolve();
        } catch (Throwable t) {
            fail(t);
        }
    }

    // ---- resolving the name

    @SuppressWarnings("unchecked")
    private void resolve() {
        AddressResolverGroup<SocketAddress> resolvers =
                (AddressResolverGroup<SocketAddress>) template.config().resolver();
        AddressResolver<SocketAddress> resolver = resolvers.getResolver(loop);
        if (!resolver.isSupported(requested) || resolver.isResolved(requested)) {
            resolved(requested);
        } else {
            resolver.resolve(requested).addListener(future -> onLoop(() -> {
                if (promise.isDone()) {
                    return;
                }
                if (future.isSuccess()) {
                    resolved((InetSocketAddress) future.getNow());
                } else {
                    fail(future.cause());
                }
            }));
        }
    }

    private void resolved(InetSocketAddress address) {
        remote = address;
        startNanos = System.nanoTime();
        Throwable unavailable = ChannelTypes.rdmaUnavailabilityCause(loop);
        if (unavailable != null) {
            rdmaCause = unavailable;
            fallBack(new Fallback(FallbackReason.UNAVAILABLE, message(unavailable)));
            return;
        }
        Fallback remembered = rememberFor.isZero() ? null : paths.get(address);
        if (remembered != null) {
            fallBack(remembered);
        } else {
            tryRdma();
        }
    }

    // ---- attempts

    private void tryRdma() {
        long millis = rdmaConnectTimeout.toMillis();
        int all = connectTimeoutMillis();
        if (all > 0) {
            millis = Math.max(1, Math.min(millis, Math.min(all / 2, all - elapsedMillis())));
        }
        attempt(TransportPath.RDMA, ChannelTypes.RDMA, tcp, millis);
    }

    private void fallBack(Fallback why) {
        fallback = why;
        RdmaOrTcpMetrics.total().fellBack(why.reason());
        int all = connectTimeoutMillis();
        attempt(TransportPath.TCP, tcp, ChannelTypes.RDMA, all > 0 ? Math.max(1, all - elapsedMillis()) : all);
    }

    private void attempt(TransportPath path, ChannelTypes types, ChannelTypes other, long timeoutMillis) {
        try {
            Bootstrap bootstrap = template.clone().channel(types.connection).disableResolver()
                    .handler(new Connected(path));
            KnownOptions.foreign(bootstrap.config().options(), types.connection, other.connection,
                    foreign -> bootstrap.option(foreign, null));
            bootstrap.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) Math.min(Integer.MAX_VALUE, timeoutMillis));
            ChannelFuture future = bootstrap.connect(remote, local);
            channel = future.channel();
            future.addListener(f -> {
                if (!f.isSuccess()) {
                    onLoop(() -> failed(path, f.cause()));
                }
            });
        } catch (Throwable t) {
            failed(path, t);
        }
    }

    private void failed(TransportPath path, Throwable cause) {
        if (promise.isDone()) {
            return;
        }
        if (loop.isShuttingDown()) {
            fail(cause);
        } else if (path == TransportPath.RDMA) {
            rdmaFailed(cause);
        } else if (cause instanceof IOException || cause instanceof ChannelException) {
            // The latter when there can be no channel, for example for lack of descriptors.
            tcpFailed(cause);
        } else {
            fail(cause);
        }
    }

    private void rdmaFailed(Throwable cause) {
        FallbackReason reason = FallbackReason.of(cause);
        if (reason == null) {
            fail(cause);
            return;
        }
        Fallback why = new Fallback(reason, message(cause));
        rdmaCause = cause;
        if (reason.isLasting() && !rememberFor.isZero()) {
            paths.remember(remote, why, rememberFor);
        }
        if (tcpCause == null) {
            fallBack(why);
        } else {
            fallback = why;
            failBoth();
        }
    }

    private void tcpFailed(Throwable cause) {
        tcpCause = cause;
        int all = connectTimeoutMillis();
        if (fallback.reason() == FallbackReason.REMEMBERED && (all <= 0 || elapsedMillis() < all)) {
            // What was remembered is not true any more, as TCP worked then; or the server is down.
            logger.debug("{}: TCP failed, trying RDMA, which was remembered to fail", remote, cause);
            tryRdma();
        } else {
            failBoth();
        }
    }

    // ---- results

    /** The first handler of an attempt, and its only one as long as there is no connection. */
    private final class Connected extends ChannelInboundHandlerAdapter {
        private final TransportPath path;

        Connected(TransportPath path) {
            this.path = path;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            if (!promise.setUncancellable()) {
                ctx.close();
                return;
            }
            ctx.channel().attr(RdmaOrTcp.PATH).set(path);
            if (path == TransportPath.RDMA) {
                // Also if it was tried after TCP.
                paths.forget(remote);
            } else {
                ctx.channel().attr(RdmaOrTcp.FALLBACK).set(fallback);
            }
            try {
                ctx.pipeline().addAfter(ctx.name(), null, template.config().handler());
            } catch (Throwable t) {
                // Not sharable, for example.
                ctx.close();
                fail(t);
                return;
            }
            ctx.fireChannelRegistered();
            succeed(ctx.channel(), path);
            ctx.fireChannelActive();
            ctx.pipeline().remove(this);
        }
    }

    /** Before {@code channelActive}, as with {@link Bootstrap}. */
    private void succeed(Channel connected, TransportPath path) {
        if (!connected.isOpen()) {
            // An initializer that threw an exception has closed it.
            fail(new ClosedChannelException());
            return;
        }
        RdmaOrTcpMetrics.total().connected(path);
        if (logger.isDebugEnabled()) {
            logger.debug("{}: connected over {} in {} us{}: {}", requested, path,
                    TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - startNanos),
                    path == TransportPath.TCP ? " (RDMA: " + fallback + ')' : "", connected);
        }
        promise.trySuccess(connected);
    }

    private void failBoth() {
        RdmaOrTcpMetrics.total().failed();
        fail(new RdmaOrTcpConnectException(remote, fallback, rdmaCause, tcpCause));
    }

    private void fail(Throwable cause) {
        if (!promise.isDone()) {
            logger.debug("{}: not connected", requested, cause);
        }
        promise.tryFailure(cause);
    }

    private void onLoop(Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
            return;
        }
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            fail(e);
        }
    }

    private int connectTimeoutMillis() {
        Object value = template.config().options().get(ChannelOption.CONNECT_TIMEOUT_MILLIS);
        return value == null ? DEFAULT_CONNECT_TIMEOUT_MILLIS : (Integer) value;
    }

    private long elapsedMillis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    }

    private static String message(Throwable cause) {
        return cause.getMessage() != null ? cause.getMessage() : cause.toString();
    }
}
