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
package io.netty.channel.rdma.loop;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.internal.PlatformDependent;

import java.lang.reflect.Field;

/**
 * NIO channels on a loop. A {@link NioIoHandler} that never sleeps serves them. On Linux the JDK's selector is an epoll
 * descriptor ({@code sun.nio.ch.EPollSelectorImpl}), and an epoll descriptor can watch another one (epoll(7)). So the
 * loop's epoll descriptor watches the selector's. The selector runs when it has events, and before each sleep, because
 * the JDK passes changes of interest to the kernel only in {@code select}. Nothing is done before the first
 * registration.
 */
final class NioChannels {
    /** A context in which {@code select} does not block. */
    private static final IoHandlerContext WITHOUT_BLOCKING = new IoHandlerContext() {
        @Override
        public boolean canBlock() {
            return false;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return 0;
        }

        /** Returns now, so that a {@code SelectStrategy} that blocks in spite of {@link #canBlock()} does not wait. */
        @Override
        public long deadlineNanos() {
            return System.nanoTime();
        }
    };

    final NioIoHandler handler;
    private final LoopHandler loop;
    private final HiddenField selectorOfNio = HiddenField.of(NioIoHandler.class, "unwrappedSelector");
    /** The selector whose descriptor is watched. {@code NioIoHandler} may replace its selector. */
    private Object selector;
    private WatchedFd watched;

    /** @throws UnsupportedOperationException if the descriptor of a selector can't be read. */
    NioChannels(LoopHandler loop, NioIoHandler handler) {
        this.loop = loop;
        this.handler = handler;
        descriptor(selectorOfNio.get(handler));
    }

    private static int descriptor(Object selector) {
        return (Integer) HiddenField.of(selector.getClass(), "epfd").get(selector);
    }

    IoRegistration register(IoHandle handle) throws Exception {
        watch();
        return handler.register(handle);
    }

    private void watch() throws Exception {
        Object current = selectorOfNio.get(handler);
        if (current != selector) {
            unwatch();
            watched = new WatchedFd(loop, descriptor(current), this::readable);
            selector = current;
        }
    }

    private void unwatch() {
        if (watched != null) {
            watched.unwatch();
            watched = null;
        }
    }

    private void readable() {
        for (int i = handler.run(WITHOUT_BLOCKING); i > 0; i--) {
            loop.externalEvent();
        }
    }

    /** Runs the selector without blocking. Returns the number of channels with events. */
    int run() {
        if (watched == null) {
            return 0;
        }
        int handled = handler.run(WITHOUT_BLOCKING);
        try {
            watch();
        } catch (Exception e) {
            loop.unexpected(e);
        }
        return handled;
    }

    void destroy() {
        unwatch();
        handler.destroy();
    }

    /**
     * A private field of another package. It is read by reflection if the package is open, else by {@code Unsafe}, as
     * {@code NioIoHandler} does for fields of a selector.
     */
    private record HiddenField(Field field, long offset) {
        static HiddenField of(Class<?> type, String name) {
            Field field;
            try {
                field = type.getDeclaredField(name);
            } catch (NoSuchFieldException e) {
                throw new UnsupportedOperationException("NIO's channels can't share an event loop with RDMA: " +
                        type.getName() + " has no field " + name, e);
            }
            if (field.trySetAccessible()) {
                return new HiddenField(field, -1);
            }
            if (PlatformDependent.hasUnsafe()) {
                return new HiddenField(field, PlatformDependent.objectFieldOffset(field));
            }
            throw new UnsupportedOperationException("no access to " + type.getName() + '.' + name + ": for NIO's " +
                    "channels on an event loop for RDMA, --add-opens " + type.getModule().getName() + '/' +
                    type.getPackageName() + "=ALL-UNNAMED");
        }

        Object get(Object object) {
            if (offset >= 0) {
                return field.getType() == int.class ? PlatformDependent.getInt(object, offset) :
                        PlatformDependent.getObject(object, offset);
            }
            try {
                return field.get(object);
            } catch (IllegalAccessException e) {
                throw new UnsupportedOperationException(e);
            }
        }
    }
}
