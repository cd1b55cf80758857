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

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Ticker;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * The clock of some event loops, which a test sets ahead: so that time-outs, which are longer than any machine needs,
 * expire when the test wants it.
 */
public final class LoopClock implements Ticker {
    private final AtomicLong ahead = new AtomicLong();
    private final AtomicReference<BooleanSupplier> nextAdvance = new AtomicReference<>();
    private final EventLoopGroup group;

    /** @param loops how many event loops for RDMA channels go by this clock. */
    public LoopClock(int loops) {
        group = new MultiThreadIoEventLoopGroup(loops, RdmaIoHandler.newFactory()) {
            @Override
            protected IoEventLoop newChild(Executor executor, IoHandlerFactory factory, Object... arguments) {
                return new Loop(this, executor, factory);
            }
        };
    }

    private final class Loop extends SingleThreadIoEventLoop {
        Loop(MultiThreadIoEventLoopGroup parent, Executor executor, IoHandlerFactory factory) {
            super(parent, executor, factory);
        }

        @Override
        public Ticker ticker() {
            return LoopClock.this;
        }

        /** Handlers give the time of the system. */
        @Override
        protected long delayNanos(long systemNanos) {
            return super.delayNanos(systemNanos + ahead.get());
        }
    }

    public EventLoopGroup group() {
        return group;
    }

    /** Sets the clock ahead: tasks that are scheduled for this time from now run soon. */
    public void advance(long time, TimeUnit unit) {
        ahead.addAndGet(unit.toNanos(time));
        for (EventExecutor loop : group) {
            // The loop may sleep until the old time.
            loop.execute(() -> { });
        }
    }

    /** Sets the clock ahead when it is read next and this is true: the time passes while that becomes true. */
    public void advanceOnce(BooleanSupplier when, long time, TimeUnit unit) {
        nextAdvance.set(() -> {
            if (!when.getAsBoolean()) {
                return false;
            }
            ahead.addAndGet(unit.toNanos(time));
            return true;
        });
    }

    /** Returns whether it has been set ahead. */
    public boolean isAhead() {
        return ahead.get() > 0;
    }

    @Override
    public long initialNanoTime() {
        return Ticker.systemTicker().initialNanoTime();
    }

    @Override
    public long nanoTime() {
        BooleanSupplier advance = nextAdvance.get();
        if (advance != null && advance.getAsBoolean()) {
            nextAdvance.set(null);
        }
        return Ticker.systemTicker().nanoTime() + ahead.get();
    }

    @Override
    public void sleep(long delay, TimeUnit unit) throws InterruptedException {
        Ticker.systemTicker().sleep(delay, unit);
    }
}
