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

import io.netty.channel.ChannelPipeline;
import io.netty.channel.RecvByteBufAllocator;

/**
 * Gives the arrivals of a channel to its pipeline, when and as far as the pipeline wants to read. It keeps the contract
 * of {@link RecvByteBufAllocator} and {@code autoRead}, as the epoll transport does. Subclasses have the arrivals:
 * bytes, messages, or connections. On the loop of the channel.
 */
public abstract class ReadLoop {
    private final Runnable later = this::readScheduled;
    private boolean readPending;
    private boolean reading;
    private boolean scheduled;

    /** Returns whether {@code read()} was called and has got nothing yet. */
    public final boolean isReadPending() {
        return readPending;
    }

    public final void clearReadPending() {
        readPending = false;
    }

    /** Handles a call of {@code read()}. Arrivals are delivered later, not inside of that call. */
    public final void beginRead() {
        readPending = true;
        if (hasNext()) {
            readLater();
        }
    }

    private void readLater() {
        if (!reading && !scheduled) {
            scheduled = true;
            execute(later);
        }
    }

    private void readScheduled() {
        scheduled = false;
        readNow();
    }

    /** Reads as a task of its own. */
    protected void readNow() {
        read();
    }

    /** Delivers arrivals, if the pipeline wants them. Does nothing if a handler that it has called calls it. */
    public final void read() {
        if (reading || !isReading() || !isDue()) {
            return;
        }
        reading = true;
        try {
            loop();
        } finally {
            reading = false;
        }
        if (isWanted()) {
            readLater();
        }
    }

    private void loop() {
        ChannelPipeline pipeline = pipeline();
        RecvByteBufAllocator.ExtendedHandle handle = handle();
        Throwable failure = null;
        try {
            do {
                Object message = next(handle);
                if (message == null) {
                    break;
                }
                handle.incMessagesRead(1);
                readPending = false;
                pipeline.fireChannelRead(message);
            } while (goesOn(handle));
        } catch (Throwable t) {
            failure = t;
        }
        taken();
        handle.readComplete();
        pipeline.fireChannelReadComplete();
        if (failure != null) {
            failed(failure);
        }
        done();
    }

    /** The pipeline of the channel. */
    protected abstract ChannelPipeline pipeline();

    /** The handle of the channel, {@linkplain RecvByteBufAllocator.Handle#reset reset}. */
    protected abstract RecvByteBufAllocator.ExtendedHandle handle();

    /** Runs the task later on the loop of the channel. */
    protected abstract void execute(Runnable task);

    /** Returns whether the pipeline may get arrivals. */
    protected abstract boolean isReading();

    /** Returns whether there are arrivals for the pipeline. */
    protected abstract boolean hasNext();

    /** Returns whether there are arrivals that the pipeline wants. */
    protected boolean isWanted() {
        return readPending && hasNext();
    }

    /** Returns whether there is a reason to begin, in most cases arrivals that the pipeline wants. */
    protected boolean isDue() {
        return isWanted();
    }

    /**
     * Takes the next message for the pipeline.
     *
     * @param handle is told the number of bytes.
     * @return {@code null} if there is none.
     */
    protected abstract Object next(RecvByteBufAllocator.ExtendedHandle handle) throws Exception;

    /** Returns whether another message is to be read in the same loop. */
    protected abstract boolean goesOn(RecvByteBufAllocator.ExtendedHandle handle);

    /** Called when the loop has taken its last message, before the pipeline is told. */
    protected void taken() {
        // Nothing to do by default.
    }

    /** Handles a failure of the reading, or an exception of the pipeline. */
    protected void failed(Throwable cause) {
        pipeline().fireExceptionCaught(cause);
    }

    /** Called after the pipeline was told that the loop is complete. */
    protected void done() {
        // Nothing to do by default.
    }
}
