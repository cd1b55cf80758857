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

import io.netty.channel.ChannelPromise;
import io.netty.channel.rdma.connection.LingeringClose;
import io.netty.channel.rdma.connection.RdmaConnection;
import io.netty.channel.rdma.loop.LoopHandler;

import java.util.concurrent.TimeUnit;

/**
 * A close of a channel, or of its output, that waits until what was flushed before has arrived: the promises of these
 * writes can then say so. A close does not wait for ever: what has not arrived by then is sent after the channel is
 * closed, see {@link RdmaConnection#close}, but not from memory that others may change by then. Nor does the close of a
 * channel that is not registered: it need never be again, and until then it does not learn what has arrived. On the
 * loop of the channel.
 */
final class LingeringEnd extends LingeringClose {
    private final AbstractRdmaSocketChannel channel;
    private final RdmaSocketUnsafe unsafe;
    private Runnable shutdown;

    LingeringEnd(AbstractRdmaSocketChannel channel, RdmaSocketUnsafe unsafe) {
        super(channel::eventLoop, channel.closeFuture(), channel::outputEnding, () -> channel.config().getSoLinger());
        this.channel = channel;
        this.unsafe = unsafe;
    }

    private boolean isSending() {
        return channel.connection() != null && channel.connection().sendPath().isSending();
    }

    @Override
    protected boolean isWaiting() {
        return isClosing() || shutdown != null;
    }

    private void shutdown(Runnable newShutdown) {
        shutdown = newShutdown;
        changed();
    }

    /** Shuts the output down, now or later. */
    void shutdownOutput(ChannelPromise promise) {
        if (!promise.setUncancellable()) {
            return;
        }
        Runnable first = shutdown;
        if (first != null) {
            shutdown(() -> {
                first.run();
                unsafe.shutdownOutput(promise);
            });
        } else if (isSending() && !channel.isOutputShutdown()) {
            shutdown(() -> unsafe.shutdownOutput(promise));
        } else {
            unsafe.shutdownOutput(promise);
        }
    }

    /** The channel is closed: the shutdown that waits fails. */
    void cancelShutdown() {
        Runnable task = shutdown;
        if (task != null) {
            shutdown(null);
            task.run();
        }
    }

    /**
     * The channel is to be closed.
     *
     * @param task closes it.
     * @return whether that has been or will be done; if not, the caller has to.
     */
    boolean closeLater(ChannelPromise promise, Runnable task) {
        boolean shuttingDown = channel.isLoopEnding();
        if (isClosing()) {
            join(promise, shuttingDown);
            return true;
        }
        if (channel.isOpen() && channel.isRegistered() && isSending() && channel.config().getSoLinger() != 0 &&
                (!shuttingDown || mustWait()) && promise.setUncancellable()) {
            start(cause -> task.run(), shuttingDown);
            // A peer that closes as well must be able to get rid of its bytes.
            channel.connection().discardInput();
            return true;
        }
        return false;
    }

    /** Returns whether the promises must not be done yet, since the device reads the memory of their messages. */
    private boolean mustWait() {
        LoopHandler handler = channel.handler();
        return channel.connection().sendPath().isReadingShared() && (handler == null || !handler.isEnding());
    }

    /**
     * Closes, but not before what is in flight has arrived, if it is sent from memory that the application may use
     * again as soon as the promises are done. The peer's device has room for it, so that takes no longer than a round
     * trip, or the device does not answer: then the connection is reset.
     */
    @Override
    protected void overdue(Throwable cause) {
        if (!isClosing() || !mustWait()) {
            closeNow(cause);
            return;
        }
        if (!channel.connection().sendPath().isHeld()) {
            channel.connection().sendPath().hold();
            // As long as the loop goes on, if it ends: see RdmaIoHandler.destroy().
            if (!channel.isLoopEnding()) {
                scheduleTimer(this::closeNow, RdmaConnection.END_TIMEOUT_MILLIS);
            }
        }
    }

    /** The loop may be another one by then. */
    @Override
    protected Runnable schedule(Runnable task, long millis) {
        return channel.connection().loop().schedule(task, millis, TimeUnit.MILLISECONDS)::cancel;
    }

    /** Closes, if that waits. */
    void closeNow() {
        closeNow(null);
    }

    /** Flushed bytes have arrived, or never will. */
    void advance() {
        if (shutdown != null && !isSending()) {
            Runnable task = shutdown;
            shutdown(null);
            task.run();
        }
        if (isClosing() && (!isSending() || channel.connection().sendPath().isHeld() && !mustWait())) {
            closeNow();
        }
    }
}
