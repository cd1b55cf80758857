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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.verbs.AccessFlags;
import io.netty.channel.rdma.verbs.MemoryRegion;
import io.netty.channel.rdma.verbs.MemoryWindow;
import io.netty.channel.rdma.verbs.SendWorkRequests;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The memory windows of one connection. Windows of the device are used again with another key, because an allocation is
 * a system call. This class refuses all that the device would refuse, because its error ends the connection.
 *
 * <p>On the loop of the channel, except for {@link #revoke}.
 */
final class MemoryWindows {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(MemoryWindows.class);

    private final RdmaMessageChannel channel;
    private final MessageConnection connection;
    private final ChannelQueuePair queuePair;
    /** All allocated windows of the device, until the connection ends; below, those that are not bound. */
    private final List<MemoryWindow> allocated = new ArrayList<>();
    private final Queue<MemoryWindow> free = new ArrayDeque<>();
    /** Windows by their keys, from the bind until they are revoked. */
    private final IntObjectMap<RdmaMemoryWindow> byKey = new IntObjectHashMap<>();

    MemoryWindows(RdmaMessageChannel channel, MessageConnection connection, ChannelQueuePair queuePair) {
        this.channel = channel;
        this.connection = connection;
        this.queuePair = queuePair;
    }

    /**
     * Opens a part of the memory to the peer.
     *
     * @param promise gets the window when the bind is done.
     */
    void bind(RegisteredMemory memory, long offset, long length, Set<RdmaPermission> permissions,
              Promise<RdmaMemoryWindow> promise) throws IOException {
        if (connection.isBroken()) {
            throw new ClosedChannelException();
        }
        if (queuePair.context().attributes.maxMemoryWindows() == 0) {
            throw new UnsupportedOperationException(queuePair.device() + " has no memory windows of type 2");
        }
        memory.retain();
        RdmaMemoryWindow window = null;
        try {
            MemoryRegion region = queuePair.region(memory);
            if ((region.access() & AccessFlags.MEMORY_WINDOW_BIND) == 0) {
                throw new UnsupportedOperationException("a window to the " + memory + ", which is a dma-buf: the " +
                        "kernel has none to those");
            }
            MemoryWindow unbound = take();
            RemoteMemory remote = new RemoteMemory(memory.address() + offset, length, unbound.nextKey(), permissions);
            window = new RdmaMemoryWindow(this, unbound, memory, remote, channel.eventLoop().newPromise());
            byKey.put(remote.key(), window);
            RdmaMemoryWindow binding = window;
            write(new Bind(region, window), () -> bound(binding, promise), promise::tryFailure);
        } finally {
            if (window == null) {
                memory.release();
            }
        }
    }

    private MemoryWindow take() throws IOException {
        MemoryWindow window = free.poll();
        if (window == null) {
            window = queuePair.context().domain.allocateMemoryWindow();
            allocated.add(window);
        }
        return window;
    }

    private void bound(RdmaMemoryWindow window, Promise<RdmaMemoryWindow> promise) {
        if (window.window.isOpen()) {
            window.window.bound(window.remoteMemory().key());
        }
        if (!promise.trySuccess(window)) {
            // The promise was cancelled, so the application has no window to revoke.
            revoke(window);
        }
    }

    /** Closes the window. Any thread. */
    void revoke(RdmaMemoryWindow window) {
        EventLoop loop = channel.eventLoop();
        if (!window.isOpen()) {
            return;
        }
        if (!loop.inEventLoop()) {
            loop.execute(() -> revoke(window));
        } else if (!connection.isBroken()) {
            window.state(RdmaMemoryWindow.State.REVOKING);
            write(new Invalidate(window), () -> {
                free(window);
                closed(window);
            }, cause -> logger.debug("{}: the end of the connection revokes the {}", channel, window, cause));
        }
    }

    /**
     * Closes a window that a message of the peer has invalidated.
     *
     * @param key of any window or memory.
     */
    void invalidatedByPeer(int key) {
        RdmaMemoryWindow window = byKey.get(key);
        if (window == null) {
            return;
        }
        if (window.state() == RdmaMemoryWindow.State.OPEN) {
            free(window);
        }
        closed(window);
    }

    private void free(RdmaMemoryWindow window) {
        if (window.window.isOpen()) {
            free.add(window.window);
        }
    }

    /** Releases the memory: the peer can't use the window any more. */
    private void closed(RdmaMemoryWindow window) {
        if (byKey.remove(window.remoteMemory().key()) != null) {
            window.state(RdmaMemoryWindow.State.REVOKED);
            window.memory.release();
            window.tellRevoked();
        }
    }

    private void write(RdmaOperation operation, Runnable done, Consumer<Throwable> failed) {
        ChannelPromise promise = channel.newPromise();
        promise.addListener(future -> {
            if (future.isSuccess()) {
                done.run();
            } else {
                failed.accept(future.cause());
            }
        });
        channel.unsafe().write(operation, promise);
        channel.unsafe().flush();
    }

    /** Deallocates the windows before the queue pair is destroyed, because soft-RoCE would wait for them then. */
    void deallocate() {
        free.clear();
        for (MemoryWindow window : allocated) {
            window.close();
        }
        allocated.clear();
    }

    /** Closes all windows: they have ended with the queue pair. */
    void release() {
        for (RdmaMemoryWindow window : new ArrayList<>(byKey.values())) {
            closed(window);
        }
    }

    /** A work request without bytes, which applications do not write themselves. */
    private abstract static class WindowOperation extends RdmaOperation {
        final RdmaMemoryWindow window;

        WindowOperation(RdmaMemoryWindow window) {
            super(Unpooled.EMPTY_BUFFER);
            this.window = window;
        }

        @Override
        RdmaMessageMetrics.Kind kind() {
            return RdmaMessageMetrics.Kind.WINDOW;
        }
    }

    private static final class Bind extends WindowOperation {
        private final MemoryRegion region;

        Bind(MemoryRegion region, RdmaMemoryWindow window) {
            super(window);
            this.region = region;
        }

        @Override
        void begin(SendWorkRequests chain, long id, int flags) {
            RemoteMemory remote = window.remoteMemory();
            chain.bind(id, flags, window.window, remote.key(), region, remote.address(), remote.length(),
                    RdmaPermission.accessFlags(remote.permissions()));
        }

        @Override
        RdmaOperation with(ByteBuf content) {
            content.release();
            return new Bind(region, window);
        }
    }

    private static final class Invalidate extends WindowOperation {
        Invalidate(RdmaMemoryWindow window) {
            super(window);
        }

        @Override
        void begin(SendWorkRequests chain, long id, int flags) {
            chain.invalidate(id, flags, window.remoteMemory().key());
        }

        @Override
        RdmaOperation with(ByteBuf content) {
            content.release();
            return new Invalidate(window);
        }
    }
}
