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
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.rdma.attempt.Destination;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Tries RDMA at the destinations of connections over TCP, on their event loops, for {@link RdmaOrTcpFailures#probe}. A
 * destination gets one attempt in an interval, whatever the number of its connections. After RDMA has answered, there
 * is no attempt until another connection over TCP is made.
 */
final class Probes {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaOrTcpFailures.class);

    private final long everyNanos;
    private final Consumer<InetSocketAddress> answered;
    /** Destinations that have connections. */
    private final Map<Destination, Watched> watched = new HashMap<>();

    private static final class Watched {
        int connections;
        long lastNanos;
        /** An attempt is under way, or RDMA has answered since the last connection was made. */
        boolean done;
    }

    Probes(long everyNanos, Consumer<InetSocketAddress> answered) {
        this.everyNanos = everyNanos;
        this.answered = answered;
    }

    /** One connection over TCP. */
    private final class Probe {
        private final EventLoop loop;
        private final ConnectPlan.Settings settings;
        private final Destination destination;
        private final SocketAddress local;
        private Future<?> timer;
        private volatile boolean closed;

        Probe(EventLoop loop, ConnectPlan.Settings settings, Destination destination, SocketAddress local) {
            this.loop = loop;
            this.settings = settings;
            this.destination = destination;
            this.local = local;
        }

        void schedule() {
            try {
                timer = loop.schedule(this::run, everyNanos, TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                // The event loop ends, and with it the connection.
                logger.debug("{}: not tried over RDMA any more", destination.address(), e);
            }
        }

        private void run() {
            if (closed || settings.failures.probes() != Probes.this) {
                return;
            }
            if (begins(destination, loop.ticker().nanoTime())) {
                connect();
            }
            schedule();
        }

        private void connect() {
            InetSocketAddress remote = destination.address();
            try {
                Bootstrap bootstrap = new Bootstrap().group(loop).channel(ChannelTypes.RDMA.connection)
                        .disableResolver().handler(new ChannelInboundHandlerAdapter());
                settings.restrict(bootstrap);
                bootstrap.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, settings.rdmaTimeoutMillis(remote));
                ChannelFuture connecting = bootstrap.connect(remote, local);
                connecting.addListener(done -> {
                    connecting.channel().close();
                    ended(done.cause());
                });
            } catch (Throwable t) {
                ended(t);
            }
        }

        private void ended(Throwable failure) {
            if (failure != null) {
                logger.debug("{}: RDMA does not answer yet", destination.address(), failure);
                failed(destination);
                return;
            }
            logger.info("{}: RDMA answers, where there are connections over TCP", destination.address());
            settings.failures.memory().forget(destination.address());
            try {
                answered.accept(destination.address());
            } catch (Throwable t) {
                logger.warn("{}: what is to be done when RDMA answers again has failed", destination.address(), t);
            }
        }

        void close() {
            closed = true;
            if (timer != null) {
                timer.cancel(false);
            }
        }
    }

    /** On the event loop. */
    void watch(Channel channel, EventLoop loop, ConnectPlan.Settings settings, Destination destination,
               SocketAddress local) {
        added(destination, loop.ticker().nanoTime());
        Probe probe = new Probe(loop, settings, destination, local);
        probe.schedule();
        channel.closeFuture().addListener(closed -> {
            probe.close();
            removed(destination);
        });
    }

    private synchronized void added(Destination destination, long now) {
        Watched each = watched.computeIfAbsent(destination, key -> new Watched());
        if (each.connections++ == 0 || each.done) {
            each.done = false;
            each.lastNanos = now;
        }
    }

    private synchronized void removed(Destination destination) {
        Watched each = watched.get(destination);
        if (--each.connections == 0) {
            watched.remove(destination);
        }
    }

    private synchronized boolean begins(Destination destination, long now) {
        Watched each = watched.get(destination);
        if (each.done || now - each.lastNanos < everyNanos) {
            return false;
        }
        each.done = true;
        each.lastNanos = now;
        return true;
    }

    private synchronized void failed(Destination destination) {
        Watched each = watched.get(destination);
        if (each != null) {
            each.done = false;
        }
    }
}
