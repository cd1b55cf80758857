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

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;

/**
 * One connect of a {@link RdmaOrTcpBootstrap}: the attempts of a {@link ConnectPlan}, all on one event loop.
 */
final class ConnectAttempt {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaOrTcpBootstrap.class);
    /** That of {@code DefaultChannelConfig}. */
    private static final int DEFAULT_CONNECT_TIMEOUT_MILLIS = 30000;

    private final Bootstrap template;
    private final EventLoop loop;
    private final ChannelTypes tcp;
    private final Promise<Channel> promise;
    private final ConnectPlan.Settings settings;
    private final SocketAddress local;
    private final InetSocketAddress requested;
    private InetSocketAddress remote;
    private Plan plan;
    /** Of the attempt under way. */
    private Channel channel;

    /**
     * @param template all but the channel class; its group is the event loop, its handler the application's.
     */
    ConnectAttempt(Bootstrap template, Duration rdmaConnectTimeout, Duration rememberFor, RdmaOrTcpFailures failures,
                   InetSocketAddress remote, SocketAddress local) {
        this.template = template;
        settings = new ConnectPlan.Settings(connectTimeoutMillis(template), rdmaConnectTimeout, rememberFor, failures,
                ConnectPlan.Settings.DEFAULT_RULE, template.config().options());
        this.local = local;
        requested = remote;
        loop = (EventLoop) template.config().group();
        tcp = ChannelTypes.tcp(loop);
        promise = loop.newPromise();
    }

    private static int connectTimeoutMillis(Bootstrap template) {
        Object value = template.config().options().get(ChannelOption.CONNECT_TIMEOUT_MILLIS);
        return value == null ? DEFAULT_CONNECT_TIMEOUT_MILLIS : (Integer) value;
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
        plan = new Plan();
        plan.start(null);
    }

    // ---- attempts

    private final class Plan extends ConnectPlan {
        Plan() {
            super(logger, loop, settings, remote, local);
        }

        @Override
        protected void attempt(RdmaOrTcpTransport transport, int timeoutMillis) {
            ChannelTypes types = transport == RdmaOrTcpTransport.RDMA ? ChannelTypes.RDMA : tcp;
            ChannelTypes other = transport == RdmaOrTcpTransport.RDMA ? tcp : ChannelTypes.RDMA;
            try {
                Bootstrap bootstrap = template.clone().channel(types.connection).disableResolver()
                        .handler(new Connected(transport));
                KnownOptions.foreign(bootstrap.config().options(), types.connection, other.connection,
                        foreign -> bootstrap.option(foreign, null));
                bootstrap.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeoutMillis);
                ChannelFuture future = bootstrap.connect(remote, local);
                channel = future.channel();
                future.addListener(f -> {
                    if (!f.isSuccess()) {
                        onLoop(() -> attemptFailed(transport, f.cause()));
                    }
                });
            } catch (Throwable t) {
                attemptFailed(transport, t);
            }
        }

        @Override
        protected void fail(Throwable cause) {
            ConnectAttempt.this.fail(cause);
        }
    }

    private void attemptFailed(RdmaOrTcpTransport transport, Throwable cause) {
        if (!promise.isDone()) {
            plan.failed(transport, cause);
        }
    }

    // ---- results

    /** The first handler of an attempt, and its only one as long as there is no connection. */
    private final class Connected extends ChannelInboundHandlerAdapter {
        private final RdmaOrTcpTransport transport;

        Connected(RdmaOrTcpTransport transport) {
            this.transport = transport;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            if (!promise.setUncancellable()) {
                ctx.close();
                return;
            }
            plan.mark(ctx.channel(), transport);
            try {
                ctx.pipeline().addAfter(ctx.name(), null, template.config().handler());
            } catch (Throwable t) {
                // Not sharable, for example.
                ctx.close();
                fail(t);
                return;
            }
            ctx.fireChannelRegistered();
            succeed(ctx.channel(), transport);
            ctx.fireChannelActive();
            ctx.pipeline().remove(this);
        }
    }

    /** Before {@code channelActive}, as with {@link Bootstrap}. */
    private void succeed(Channel connected, RdmaOrTcpTransport transport) {
        if (!connected.isOpen()) {
            // An initializer that threw an exception has closed it.
            fail(new ClosedChannelException());
            return;
        }
        plan.connected(requested, connected, transport);
        promise.trySuccess(connected);
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
}
