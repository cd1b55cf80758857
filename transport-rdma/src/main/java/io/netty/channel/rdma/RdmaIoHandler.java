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
package io.netty.channel.rdma;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.memory.Staging;
import io.netty.channel.rdma.metrics.RdmaMetricsMBean;
import io.netty.channel.rdma.monitor.ManagementThread;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.netty.util.internal.StringUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.concurrent.atomic.AtomicInteger;

import static io.netty.util.internal.ObjectUtil.checkNotNull;

/**
 * An {@link IoHandler} for RDMA channels and for everything that an {@link EpollIoHandler} serves, on the same event
 * loop. If it is made around a {@link NioIoHandler}, it also serves NIO's channels. {@link RdmaIoHandlerConfig} sets
 * how it waits.
 */
public final class RdmaIoHandler implements IoHandler {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaIoHandler.class);
    /** Handlers that are not destroyed. Without any, no MBean keeps the class loader, and no unused slab is kept. */
    private static final AtomicInteger LIVE = new AtomicInteger();

    private final LoopHandler handler;
    /** True if the application has passed the factory of the handlers for TCP, so that TCP is no surprise to it. */
    private final boolean tcpChosen;

    private RdmaIoHandler(ThreadAwareExecutor executor, EpollIoHandler epoll, NioIoHandler nio,
                          RdmaIoHandlerConfig config, boolean tcpChosen) {
        handler = new LoopHandler(executor, epoll, nio, config.isBusyPoll(), config.getMaxSpinMicros() * 1000L,
                config.getPollBatch(), config.getSharedReceiveQueueDepth());
        this.tcpChosen = tcpChosen;
        if (LIVE.getAndIncrement() == 0) {
            adaptSlabs();
            ManagementThread.runLater(RdmaIoHandler::adapt);
        }
    }

    /** Adapts to the present number of handlers, not to a change: the task of an earlier change may run later. */
    private static void adapt() {
        synchronized (LIVE) {
            boolean any = LIVE.get() > 0;
            try {
                if (any) {
                    RdmaMetricsMBean.register();
                } else {
                    RdmaMetricsMBean.unregister();
                }
            } catch (Exception | LinkageError e) {
                // The module java.management or the permission is missing.
                logger.debug("The metrics are no MBean", e);
            }
        }
        adaptSlabs();
    }

    /** Runs at once for the first handler, whose connections would else register the same memory again and again. */
    private static synchronized void adaptSlabs() {
        boolean any = LIVE.get() > 0;
        RdmaByteBufAllocator.DEFAULT.keepUnusedSlabs(any);
        Staging.keepUnusedSlabs(any);
    }

    @Override
    public void initialize() {
        handler.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        return handler.run(context);
    }

    @Override
    public void wakeup() {
        handler.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return RdmaIoHandle.class.isAssignableFrom(handleType) || handler.isCompatible(handleType);
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        if (handle instanceof EpollIoHandle) {
            if (!tcpChosen) {
                TcpOnlyWarning.epollUsed(handle);
            }
        } else if (!isCompatible(handle.getClass())) {
            throw new IllegalArgumentException("IoHandle of type " + StringUtil.simpleClassName(handle) +
                    " not supported");
        }
        IoRegistration registration = handler.register(handle);
        if (handle instanceof RdmaIoHandle) {
            TcpOnlyWarning.rdmaUsed();
        }
        return registration;
    }

    /**
     * Returns the handler of TCP that this handler was made around: a {@link NioIoHandler} on an event loop that serves
     * NIO's channels, else an {@link EpollIoHandler}. Only this handler may run it. Any thread.
     */
    public IoHandler tcpHandler() {
        return handler.tcpHandler();
    }

    @Override
    public void prepareToDestroy() {
        handler.prepareToDestroy();
    }

    @Override
    public void destroy() {
        handler.destroy();
        if (LIVE.decrementAndGet() == 0) {
            ManagementThread.run(RdmaIoHandler::adapt);
        }
    }

    /**
     * Returns a factory of handlers with the default {@link RdmaIoHandlerConfig}.
     *
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    public static IoHandlerFactory newFactory() {
        return newFactory(new RdmaIoHandlerConfig());
    }

    /**
     * Returns a factory of handlers.
     *
     * @param config copied.
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    public static IoHandlerFactory newFactory(RdmaIoHandlerConfig config) {
        // Checked before epoll's own, whose exception does not say what to do.
        Rdma.ensureAvailability();
        return newFactory(config, EpollIoHandler.newFactory(), false);
    }

    /**
     * Returns a factory of handlers around those of another factory, which keep their settings. The other factory makes
     * an {@link EpollIoHandler} or a {@link NioIoHandler}. With a {@code NioIoHandler} there is an {@code
     * EpollIoHandler} beside it, and the event loop serves NIO's channels as well. The {@code newHandler} of the
     * returned factory throws an {@link UnsupportedOperationException} for a {@code NioIoHandler} if the descriptor of
     * the JDK's selector can't be found out, and an {@link IllegalArgumentException} for a handler of another class.
     * Its handlers do not warn of a process that uses TCP alone ({@code io.netty.rdma.warnTcpOnly}).
     *
     * @param config  copied.
     * @param factory of the handlers of TCP.
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    public static IoHandlerFactory newFactory(RdmaIoHandlerConfig config, IoHandlerFactory factory) {
        Rdma.ensureAvailability();
        return newFactory(config, factory, true);
    }

    private static IoHandlerFactory newFactory(RdmaIoHandlerConfig config, IoHandlerFactory factory,
                                               boolean tcpChosen) {
        RdmaIoHandlerConfig copy = checkNotNull(config, "config").copy();
        checkNotNull(factory, "factory");
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor ioExecutor) {
                return around(factory.newHandler(ioExecutor), ioExecutor, copy, tcpChosen);
            }

            @Override
            public boolean isChangingThreadSupported() {
                return factory.isChangingThreadSupported();
            }
        };
    }

    private static RdmaIoHandler around(IoHandler tcp, ThreadAwareExecutor executor, RdmaIoHandlerConfig config,
                                        boolean tcpChosen) {
        if (tcp instanceof EpollIoHandler) {
            return new RdmaIoHandler(executor, (EpollIoHandler) tcp, null, config, tcpChosen);
        }
        if (!(tcp instanceof NioIoHandler)) {
            throw new IllegalArgumentException("the handler of TCP is an EpollIoHandler or a NioIoHandler, not " + tcp);
        }
        EpollIoHandler epoll = (EpollIoHandler) EpollIoHandler.newFactory().newHandler(executor);
        try {
            return new RdmaIoHandler(executor, epoll, (NioIoHandler) tcp, config, tcpChosen);
        } catch (Throwable t) {
            epoll.destroy();
            throw t;
        }
    }
}
