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
package io.netty.channel.rdma.reactor;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaIoHandlerConfig;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.util.internal.ObjectUtil;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

import java.time.Duration;

/**
 * The event loops of Reactor Netty's servers and clients, for RDMA.
 *
 * <pre>
 * RdmaLoopResources loops = RdmaLoopResources.create("http");
 * HttpServer.create().runOn(loops) ...
 * HttpClient.create().runOn(loops) ...
 * </pre>
 *
 * TCP connections go over RDMA if both sides can, else over TCP. Servers listen for both at one port, and clients try
 * RDMA first. A {@link RdmaOrTcpRule} can choose the transport by host and port. {@link RdmaOrTcp#TRANSPORT} is the
 * transport of a connection; for a stream of HTTP/2, take it from its {@link Channel#parent()}. Datagrams and Unix
 * domain sockets are those of Netty's epoll transport, on the same event loops, so HTTP/3 and the DNS resolver work as
 * before.
 *
 * <p>Where RDMA is not available ({@link Rdma#isAvailable()}), the event loops are epoll's, or NIO's where that is not
 * available either.
 *
 * <p>The event loops ignore {@code preferNative} of {@code runOn(LoopResources, boolean preferNative)}. Without the
 * native transport, use other loops.
 */
public final class RdmaLoopResources implements LoopResources {
    private final RdmaLoops loops;
    private final ChannelClasses classes;

    private RdmaLoopResources(RdmaLoops loops, RdmaOrTcpRule rule) {
        this.loops = loops;
        classes = new ChannelClasses(rule);
    }

    /**
     * Creates as many event loops as Reactor Netty's default ({@link LoopResources#DEFAULT_IO_WORKER_COUNT}), on daemon
     * threads.
     *
     * @param prefix of the threads' names.
     */
    public static RdmaLoopResources create(String prefix) {
        return builder(prefix).build();
    }

    /**
     * Creates event loops as {@link LoopResources#create(String, int, boolean)}.
     *
     * @param prefix      of the threads' names.
     * @param workerCount the number of event loops, at least 1.
     * @param daemon      whether they let the JVM exit.
     */
    public static RdmaLoopResources create(String prefix, int workerCount, boolean daemon) {
        return builder(prefix).workerCount(workerCount).daemon(daemon).build();
    }

    /**
     * Returns a builder for other settings.
     *
     * @param prefix of the threads' names.
     */
    public static Builder builder(String prefix) {
        return new Builder(prefix);
    }

    /**
     * Returns the same event loops with another rule. To dispose of one object disposes of both. Each returned object
     * has its own connection pools, so do not call this method for each request.
     *
     * @param rule for servers and clients that run on the returned object.
     */
    public RdmaLoopResources withTransportRule(RdmaOrTcpRule rule) {
        return new RdmaLoopResources(loops, rule);
    }

    @Override
    public <CHANNEL extends Channel> CHANNEL onChannel(Class<CHANNEL> channelType, EventLoopGroup group) {
        return classes.has(channelType) ? classes.newChannel(channelType) :
                LoopResources.super.onChannel(channelType, group);
    }

    @Override
    public <CHANNEL extends Channel> Class<? extends CHANNEL> onChannelClass(Class<CHANNEL> channelType,
                                                                            EventLoopGroup group) {
        return classes.has(channelType) ? classes.channelClass(channelType) :
                LoopResources.super.onChannelClass(channelType, group);
    }

    @Override
    public EventLoopGroup onServer(boolean useNative) {
        return loops.onServer(useNative);
    }

    @Override
    public EventLoopGroup onServerSelect(boolean useNative) {
        return loops.onServerSelect(useNative);
    }

    @Override
    public EventLoopGroup onClient(boolean useNative) {
        return loops.onClient(useNative);
    }

    @Override
    public boolean isDisposed() {
        return loops.isDisposed();
    }

    @Override
    public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
        return loops.disposeLater(quietPeriod, timeout);
    }

    @Override
    public String toString() {
        return "RdmaLoopResources(" + loops + ')';
    }

    /**
     * Number and settings of event loops. Not for several threads at once.
     */
    public static final class Builder {
        final String prefix;
        int selectCount = DEFAULT_IO_SELECT_COUNT;
        int workerCount = DEFAULT_IO_WORKER_COUNT;
        boolean daemon = true;
        boolean colocate = true;
        RdmaIoHandlerConfig ioHandlerConfig = new RdmaIoHandlerConfig();
        private RdmaOrTcpRule transportRule = RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_OR_TCP);

        private Builder(String prefix) {
            this.prefix = ObjectUtil.checkNonEmpty(prefix, "prefix");
        }

        /**
         * The number of event loops of connections, at least 1. Default {@link LoopResources#DEFAULT_IO_WORKER_COUNT}.
         */
        public Builder workerCount(int workerCount) {
            this.workerCount = ObjectUtil.checkPositive(workerCount, "workerCount");
            return this;
        }

        /**
         * The number of event loops of listeners, at least 1, or -1 to have them on those of connections. Default
         * {@link LoopResources#DEFAULT_IO_SELECT_COUNT}, which is -1 where it is not set.
         */
        public Builder selectCount(int selectCount) {
            if (selectCount != -1) {
                ObjectUtil.checkPositive(selectCount, "selectCount");
            }
            this.selectCount = selectCount;
            return this;
        }

        /** Sets whether the JVM may exit while the event loops run. Default true. */
        public Builder daemon(boolean daemon) {
            this.daemon = daemon;
            return this;
        }

        /**
         * Sets whether a client that connects on one of the event loops gets a connection on the same loop. A server
         * that calls another server then stays on one thread. Default true.
         */
        public Builder colocate(boolean colocate) {
            this.colocate = colocate;
            return this;
        }

        /** Sets how the event loops wait. */
        public Builder ioHandlerConfig(RdmaIoHandlerConfig ioHandlerConfig) {
            this.ioHandlerConfig = ObjectUtil.checkNotNull(ioHandlerConfig, "ioHandlerConfig");
            return this;
        }

        /**
         * Sets the transports that connections and listeners may use. Default {@link RdmaOrTcpChoice#RDMA_OR_TCP} for
         * all. Clients always connect to port 53 over TCP, for the DNS resolver.
         */
        public Builder transportRule(RdmaOrTcpRule transportRule) {
            this.transportRule = ObjectUtil.checkNotNull(transportRule, "transportRule");
            return this;
        }

        /** Builds the event loops, which start when the first server or client needs them. */
        public RdmaLoopResources build() {
            return new RdmaLoopResources(new RdmaLoops(this), transportRule);
        }
    }
}
