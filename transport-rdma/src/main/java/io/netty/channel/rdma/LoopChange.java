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
 * The change of a channel to another event loop, with which it is registered after it was deregistered from the first
 * one: its native objects move there. The pipeline calls this object, since a deregistration may have to wait for a
 * close, and a close for the arrival. On the loop that the channel is registered with.
 */
final class LoopChange extends DelegatingUnsafe {
    private final AbstractRdmaChannel channel;
    private final AbstractRdmaChannel.AbstractRdmaUnsafe unsafe;
    /** The native objects are on their way to the new loop. */
    private boolean moving;
    /** A close that was asked for meanwhile. */
    private Runnable closeAfterMove;
    /** Number of deregistrations that were asked for while the channel was open and have not taken effect. */
    private int deregistrations;

    LoopChange(AbstractRdmaChannel channel, AbstractRdmaChannel.AbstractRdmaUnsafe unsafe) {
        super(unsafe);
        this.channel = channel;
        this.unsafe = unsafe;
    }

    // ---- leaving a loop

    /**
     * A close that waits comes first, as one that does not wait would: a channel that is closed while it is not
     * registered gets no {@code channelInactive}.
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

    /** A close deregisters by a task of its own, with {@code channelInactive}. */
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

    /** A deregistration or a close takes effect. Returns whether a deregistration was asked for before the close. */
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

    /** Returns whether the native objects are on no loop. */
    boolean isMoving() {
        return moving;
    }

    /**
     * The executor of a close, or {@code null} if it need not wait. The promises of writes are done when their memory
     * is free, and the device uses it until the native objects are closed; while these move they are on no loop that
     * could.
     */
    Executor closer() {
        return moving && !channel.isLoopEnding() ? task -> closeAfterMove = task : null;
    }

    /** Goes on with a close that waits for the arrival. */
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
