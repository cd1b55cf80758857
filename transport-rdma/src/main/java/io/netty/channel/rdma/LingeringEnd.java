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
 * A close of a channel, or of its output, that waits until the bytes that were flushed before have arrived, so that the
 * promises of these writes can succeed. The wait has a limit. Bytes that have not arrived by then are sent after the
 * channel is closed (see {@link RdmaConnection#close}), but not from memory that others may change then. The close of a
 * channel that is not registered does not wait: the channel may never be registered again, and until then it does not
 * learn which bytes have arrived. On the loop of the channel.
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

    /** Fails the shutdown that waits, because the channel is closed. */
    void cancelShutdown() {
        Runnable task = shutdown;
        if (task != null) {
            shutdown(null);
            task.run();
        }
    }

    /**
     * Lets the close of the channel wait, if it has to.
     *
     * @param task closes it.
     * @return false if the caller has to close the channel.
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

    /**
     * Returns whether the promises must not be done yet, because the device reads memory of their messages that the
     * application may change.
     */
    private boolean mustWait() {
        LoopHandler handler = channel.handler();
        return channel.connection().sendPath().isReadingShared() && (handler == null || !handler.isEnding());
    }

    /**
     * Closes the channel. If bytes in flight are read from memory that the application may use again when the promises
     * are done, the close waits until they have arrived. The peer's device has room for them, so they take no longer
     * than a round trip, unless that device does not answer: then the connection is reset.
     */
    @Override
    protected void overdue(Throwable cause) {
        if (!isClosing() || !mustWait()) {
            closeNow(cause);
            return;
        }
        if (!channel.connection().sendPath().isHeld()) {
            channel.connection().sendPath().hold();
            // If the loop ends, the wait lasts as long as the loop goes on: see RdmaIoHandler.destroy().
            if (!channel.isLoopEnding()) {
                scheduleTimer(this::closeNow, RdmaConnection.END_TIMEOUT_MILLIS);
            }
        }
    }

    /** Uses the timers of the connection, because the channel may be on another loop by then. */
    @Override
    protected Runnable schedule(Runnable task, long millis) {
        return channel.connection().loop().schedule(task, millis, TimeUnit.MILLISECONDS)::cancel;
    }

    /** Does the close, if one waits. */
    void closeNow() {
        closeNow(null);
    }

    /** Ends the waits that are over: flushed bytes have arrived, or never will. */
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
