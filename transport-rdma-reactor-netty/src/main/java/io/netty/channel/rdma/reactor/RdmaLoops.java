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

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.concurrent.Future;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.NonBlocking;
import reactor.netty.FutureMono;
import reactor.netty.resources.LoopResources;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The event loops. They are made when needed, and end as the contract of {@link LoopResources} says.
 */
final class RdmaLoops implements LoopResources {
    private final String prefix;
    private final int selectCount;
    private final int workerCount;
    private final boolean daemon;
    private final boolean colocate;
    /** Name of the transport, for the names of threads. */
    private final String name;
    private final IoHandlerFactory ioHandlerFactory;
    private final AtomicInteger threads = new AtomicInteger();
    private EventLoopGroup workers;
    private EventLoopGroup selectors;
    private EventLoopGroup clients;
    private volatile boolean disposed;

    RdmaLoops(RdmaLoopResources.Builder settings) {
        prefix = settings.prefix;
        selectCount = settings.selectCount;
        workerCount = settings.workerCount;
        daemon = settings.daemon;
        colocate = settings.colocate;
        if (Rdma.isAvailable()) {
            name = "rdma";
            ioHandlerFactory = RdmaIoHandler.newFactory(settings.ioHandlerConfig);
        } else if (Epoll.isAvailable()) {
            name = "epoll";
            ioHandlerFactory = EpollIoHandler.newFactory();
        } else {
            name = "nio";
            ioHandlerFactory = NioIoHandler.newFactory();
        }
    }

    @Override
    public synchronized EventLoopGroup onServer(boolean useNative) {
        if (workers == null) {
            workers = newGroup(workerCount, "");
        }
        return workers;
    }

    @Override
    public synchronized EventLoopGroup onServerSelect(boolean useNative) {
        if (selectCount == -1) {
            return onServer(useNative);
        }
        if (selectors == null) {
            selectors = newGroup(selectCount, "select-");
        }
        return selectors;
    }

    @Override
    public synchronized EventLoopGroup onClient(boolean useNative) {
        if (clients == null) {
            EventLoopGroup group = onServer(useNative);
            clients = colocate ? LoopResources.colocate(group) : group;
        }
        return clients;
    }

    private EventLoopGroup newGroup(int count, String use) {
        if (disposed) {
            throw new IllegalStateException("the event loops '" + prefix + "' were disposed");
        }
        ThreadFactory factory = task -> {
            Thread thread = new LoopThread(task, prefix + '-' + use + name + '-' + threads.incrementAndGet());
            thread.setDaemon(daemon);
            return thread;
        };
        return new AllocatorInheritingGroup(count, factory, ioHandlerFactory);
    }

    @Override
    public boolean isDisposed() {
        return disposed;
    }

    @Override
    public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
        return Mono.defer(() -> {
            List<Mono<Void>> ends = new ArrayList<>();
            for (Future<?> end : end(quietPeriod, timeout)) {
                ends.add(mono(end));
            }
            return Mono.when(ends).timeout(timeout, Mono.error(() -> new IllegalStateException(
                    "the event loops '" + prefix + "' did not end within " + timeout.toMillis() + " ms")));
        });
    }

    private synchronized List<Future<?>> end(Duration quietPeriod, Duration timeout) {
        List<Future<?>> ends = new ArrayList<>();
        // First the clients' group: it delegates to the workers, which must still run its tasks to forget it.
        for (EventLoopGroup group : new EventLoopGroup[] {clients, selectors, workers}) {
            if (group != null) {
                ends.add(group.isShuttingDown() ? group.terminationFuture() : group.shutdownGracefully(
                        quietPeriod.toMillis(), timeout.toMillis(), TimeUnit.MILLISECONDS));
            }
        }
        disposed = true;
        return ends;
    }

    @SuppressWarnings("unchecked")
    private static Mono<Void> mono(Future<?> future) {
        return FutureMono.from((Future<Void>) future);
    }

    @Override
    public String toString() {
        return name + ", prefix=" + prefix + ", daemon=" + daemon + ", selectCount=" + selectCount + ", workerCount=" +
                workerCount + ", colocate=" + colocate;
    }

    /** Reactor refuses to block on a {@link NonBlocking} thread, which would wait for its own work. */
    private static final class LoopThread extends FastThreadLocalThread implements NonBlocking {
        LoopThread(Runnable task, String name) {
            super(task, name);
        }
    }

    /**
     * Event loops that give each child channel, such as a stream of HTTP/2, the allocator of its parent.
     *
     * <p>{@code AbstractHttp2StreamChannel} has its own configuration, with {@link ByteBufAllocator#DEFAULT}. So
     * buffers that an application or a codec allocates from a stream are not registered, and would be copied. On
     * servers and clients, only the event loop sees each stream before its handlers are added.
     */
    private static final class AllocatorInheritingGroup extends MultiThreadIoEventLoopGroup {
        AllocatorInheritingGroup(int threads, ThreadFactory threadFactory, IoHandlerFactory ioHandlerFactory) {
            super(threads, threadFactory, ioHandlerFactory);
        }

        @Override
        protected IoEventLoop newChild(Executor executor, IoHandlerFactory ioHandlerFactory, Object... args) {
            return new Loop(this, executor, ioHandlerFactory);
        }

        private static final class Loop extends SingleThreadIoEventLoop {
            Loop(IoEventLoopGroup parent, Executor executor, IoHandlerFactory ioHandlerFactory) {
                super(parent, executor, ioHandlerFactory);
            }

            @Override
            public ChannelFuture register(ChannelPromise promise) {
                inheritAllocator(promise.channel());
                return super.register(promise);
            }

            private static void inheritAllocator(Channel channel) {
                Channel parent = channel.parent();
                // A listener is a parent as well. It allocates nothing, and its connections have the right allocator
                // already.
                if (parent != null && !(parent instanceof ServerChannel) &&
                        channel.config().getAllocator() == ByteBufAllocator.DEFAULT) {
                    channel.config().setAllocator(parent.alloc());
                }
            }
        }
    }
}
