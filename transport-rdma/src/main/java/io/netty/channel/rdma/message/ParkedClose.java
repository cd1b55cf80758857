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

import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * A close of a channel that waits until what was flushed before is done, so that the promises of these operations can
 * say so; but not for ever. On the loop of the channel, except where said.
 */
final class ParkedClose {
    /** How long a close waits unless {@code SO_LINGER} says. */
    private static final long CLOSE_MILLIS = 3_000;

    private final Channel channel;
    private final IntSupplier soLinger;
    private volatile Consumer<Throwable> task;
    private Future<?> timer;

    /** @param soLinger the option. */
    ParkedClose(Channel channel, IntSupplier soLinger) {
        this.channel = channel;
        this.soLinger = soLinger;
    }

    /** Whether a close waits. Any thread. */
    boolean isWaiting() {
        return task != null;
    }

    /** Another close joins the one that waits. */
    void join(ChannelPromise promise, boolean now) {
        if (!promise.isVoid()) {
            channel.closeFuture().addListener(future -> promise.trySuccess());
        }
        if (now) {
            closeNow();
        }
    }

    /**
     * Has the close wait.
     *
     * @param close gets what operations fail with that are left: {@code null} unless the channel broke meanwhile.
     */
    void park(Consumer<Throwable> close) {
        task = close;
        int linger = soLinger.getAsInt();
        timer = channel.eventLoop().schedule(() -> closeNow(null),
                linger > 0 ? TimeUnit.SECONDS.toMillis(linger) : CLOSE_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Closes, if that waits. Returns whether it does. */
    boolean closeNow() {
        return closeNow(null);
    }

    /** As above, of a channel that broke: operations that are left fail with the cause. */
    boolean closeNow(Throwable cause) {
        Consumer<Throwable> close = task;
        if (close == null) {
            return false;
        }
        task = null;
        timer.cancel(false);
        close.accept(cause);
        return true;
    }
}
