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
package io.netty.channel.rdma.connection;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * A close of a channel that waits, for a limited time, until the writes that were flushed before are done, so that
 * their promises can succeed. On the loop of the channel, except where said.
 */
public class LingeringClose {
    /** The time that a close waits if {@code SO_LINGER} is not set. */
    private static final long CLOSE_MILLIS = 3_000;

    private final Supplier<EventLoop> loop;
    private final ChannelFuture closed;
    private final Consumer<Boolean> ending;
    private final IntSupplier soLinger;
    private volatile Consumer<Throwable> close;
    private Runnable cancelTimer;

    /**
     * @param loop     of the channel.
     * @param closed   done when the channel is.
     * @param ending told whether an end of the output waits. The channel takes no more writes then.
     * @param soLinger the option.
     */
    public LingeringClose(Supplier<EventLoop> loop, ChannelFuture closed, Consumer<Boolean> ending,
            IntSupplier soLinger) {
        this.loop = loop;
        this.closed = closed;
        this.ending = ending;
        this.soLinger = soLinger;
    }

    /** Returns whether a close waits. Any thread. */
    public final boolean isClosing() {
        return close != null;
    }

    /** Returns whether a close waits, or another end of the output. */
    protected boolean isWaiting() {
        return isClosing();
    }

    /** Tells the channel whether an end of its output waits. */
    protected final void changed() {
        ending.accept(isWaiting());
    }

    /**
     * Makes another close join the one that waits.
     *
     * @param loopEnds whether the loop ends, so that there is no time to wait.
     */
    public final void join(ChannelPromise promise, boolean loopEnds) {
        if (!promise.isVoid()) {
            closed.addListener(future -> promise.trySuccess());
        }
        if (loopEnds) {
            overdue(null);
        }
    }

    /**
     * Starts the wait of a close.
     *
     * @param newClose does the close. It gets the cause for the remaining writes, or {@code null} unless the channel
     *         broke meanwhile.
     * @param loopEnds whether the loop ends, so that there is no time to wait, and no timers.
     */
    public final void start(Consumer<Throwable> newClose, boolean loopEnds) {
        close = newClose;
        changed();
        if (loopEnds) {
            overdue(null);
            return;
        }
        int linger = soLinger.getAsInt();
        try {
            scheduleTimer(() -> overdue(null), linger > 0 ? TimeUnit.SECONDS.toMillis(linger) : CLOSE_MILLIS);
        } catch (Throwable t) {
            // The close might wait for ever without the timer. The remaining writes fail with this reason.
            overdue(t);
            throw t;
        }
    }

    /** Schedules a task in place of the task that was scheduled before. */
    protected final void scheduleTimer(Runnable task, long millis) {
        if (cancelTimer != null) {
            cancelTimer.run();
        }
        cancelTimer = schedule(task, millis);
    }

    /** Schedules a task on the loop of the channel. Returns a task that cancels it. */
    protected Runnable schedule(Runnable task, long millis) {
        Future<?> timer = loop.get().schedule(task, millis, TimeUnit.MILLISECONDS);
        return () -> timer.cancel(false);
    }

    /**
     * Closes the channel, because the close has waited long enough, or can't wait.
     *
     * @param cause the cause with which the remaining writes fail, or {@code null}.
     */
    protected void overdue(Throwable cause) {
        closeNow(cause);
    }

    /**
     * Does the close, if one waits.
     *
     * @param cause the cause with which the remaining writes fail, if the channel broke, else {@code null}.
     * @return whether a close waited.
     */
    public final boolean closeNow(Throwable cause) {
        Consumer<Throwable> waiting = close;
        if (waiting == null) {
            return false;
        }
        close = null;
        changed();
        if (cancelTimer != null) {
            cancelTimer.run();
            cancelTimer = null;
        }
        waiting.accept(cause);
        return true;
    }
}
