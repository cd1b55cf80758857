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
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.move.ConnectionIdMigration;

import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * The change of a channel to another event loop, by a deregistration and another registration. The native objects of
 * the channel move to that loop. The pipeline calls this object, because a deregistration may have to wait for a close,
 * and a close for the arrival. On the loop that the channel is registered with.
 */
final class LoopChange extends DelegatingUnsafe {
    private final AbstractRdmaChannel channel;
    private final AbstractRdmaChannel.AbstractRdmaUnsafe unsafe;
    /** The native objects are on their way to the new loop. */
    private boolean moving;
    /** A close that was requested while they move. */
    private Runnable closeAfterMove;
    /** Number of deregistrations that were requested while the channel was open and have not taken effect. */
    private int deregistrations;

    LoopChange(AbstractRdmaChannel channel, AbstractRdmaChannel.AbstractRdmaUnsafe unsafe) {
        super(unsafe);
        this.channel = channel;
        this.unsafe = unsafe;
    }

    // ---- leaving a loop

    /**
     * Deregisters the channel, but after a close that waits, as if the close had not waited. A channel that is closed
     * while it is not registered gets no {@code channelInactive}.
     */
    @Override
    public void deregister(ChannelPromise promise) {
        if (channel.isCloseWaiting()) {
            channel.closeFuture().addListener(closed -> deregisterClosed(promise));
        } else {
            if (channel.isOpen() && channel.isRegistered() && promise.setUncancellable()) {
                deregistrations++;
            }
            super.deregister(promise);
        }
    }

    /** Deregisters a closed channel after the task of the close, which fires {@code channelInactive}. */
    private void deregisterClosed(ChannelPromise promise) {
        try {
            channel.eventLoop().execute(() -> {
                if (channel.isRegistered()) {
                    deregisterClosed(promise);
                } else {
                    super.deregister(promise);
                }
            });
        } catch (RejectedExecutionException e) {
            // The loop has ended.
            promise.tryFailure(e);
        }
    }

    /** Notes that a deregistration or a close takes effect. Returns whether a deregistration was requested first. */
    boolean deregistered() {
        boolean asked = deregistrations > 0;
        if (asked) {
            deregistrations--;
        }
        return asked;
    }

    // ---- coming to a loop

    /** Moves the native objects to the loop of the handler, and completes the promise of the registration. */
    void start(List<? extends ConnectionIdMigration.Owner> owners, LoopHandler to, ChannelPromise promise) {
        moving = true;
        ConnectionIdMigration.start(owners.iterator(), to, failure -> moved(failure, promise));
    }

    private void moved(Throwable failure, ChannelPromise promise) {
        moving = false;
        if (!channel.isOpen()) {
            channel.closeNative();
            promise.setFailure(new ClosedChannelException());
        } else if (failure != null) {
            promise.setFailure(failure);
        } else {
            promise.setSuccess();
            try {
                channel.registeredAgain();
            } catch (Throwable t) {
                channel.unexpected(t);
            }
        }
        close();
    }

    /** Returns whether the native objects are between two loops. */
    boolean isMoving() {
        return moving;
    }

    /**
     * Returns the executor of a close, or {@code null} if the close need not wait. A close must not complete the
     * promises of writes before the native objects are closed, because the device uses the memory until then. While
     * they move, no loop can close them.
     */
    Executor closer() {
        return moving && !channel.isLoopEnding() ? task -> closeAfterMove = task : null;
    }

    /** Continues a close that waits for the arrival. */
    void close() {
        Runnable close = closeAfterMove;
        if (close != null) {
            closeAfterMove = null;
            Executor executor = unsafe.prepareToClose();
            if (executor == null) {
                close.run();
            } else {
                executor.execute(close);
            }
        }
    }
}
