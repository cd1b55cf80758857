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
 * The channels of NIO on a loop, which a {@link NioIoHandler} serves that never sleeps. On Linux the JDK's selector is
 * an epoll descriptor ({@code sun.nio.ch.EPollSelectorImpl}), and one epoll descriptor may be watched by another
 * (epoll(7)). So the loop sleeps in its own, and the selector is asked when it has something, and before each sleep:
 * the JDK tells the kernel of interest in events in {@code select} alone. Nothing is done before the first
 * registration.
 */
final class NioChannels {
    /** {@code select} does not block. */
    private static final IoHandlerContext WITHOUT_BLOCKING = new IoHandlerContext() {
        @Override
        public boolean canBlock() {
            return false;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return 0;
        }

        /** The selector, for a {@code SelectStrategy} that blocks in spite of this: it must not wait. */
        @Override
        public long deadlineNanos() {
            return System.nanoTime();
        }
    };

    final NioIoHandler handler;
    private final LoopHandler loop;
    private final HiddenField selectorOfNio = HiddenField.of(NioIoHandler.class, "unwrappedSelector");
    /** The selector whose descriptor is watched; {@code NioIoHandler} may take another one for it. */
    private Object selector;
    private WatchedFd watched;

    /** @throws UnsupportedOperationException if the descriptor of a selector is not to be known. */
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

    /** Asks the selector. Returns how many of its channels had something. */
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
     * A private field of another package, read by reflection where that is opened, else by {@code Unsafe}: the ways in
     * which {@code NioIoHandler} reaches fields of a selector.
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
