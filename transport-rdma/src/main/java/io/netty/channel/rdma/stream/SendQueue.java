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
package io.netty.channel.rdma.stream;

/**
 * Numbers the work requests of a queue pair's send queue, counts its slots, and decides which work requests ask for a
 * completion.
 * <p>
 * Work requests complete in order, so the completion of a signalled one frees the slots of all before it. The last
 * {@code reserve} slots are for control messages only. Without them, credits that the peer waits for could wait until a
 * queue full of data is sent. Requests in these slots are signalled, so the slots always come back.
 */
public final class SendQueue {
    private final int depth;
    private final int reserve;
    private final int signalInterval;
    private long posted;
    private long completed;
    /** One more than the number of the last request that completed with an error; 0 if there is none. */
    private long failed;
    /** One more than the number of the last request that asks for a completion. */
    private long lastSignalled;

    public SendQueue(StreamConfig config) {
        depth = config.sendQueueDepth();
        reserve = config.controlSlots();
        signalInterval = config.signalInterval();
    }

    public boolean hasDataSlot() {
        return posted - completed < depth - reserve;
    }

    public boolean hasControlSlot() {
        return posted - completed < depth;
    }

    /** The number of the oldest request that has not completed. */
    public long oldest() {
        return completed;
    }

    /** The number of the next request. */
    public long next() {
        return posted;
    }

    /** Takes a slot, and sets the request's number and whether it asks for a completion. */
    public void post(StreamWorkRequest request, boolean signal) {
        request.sequence = posted++;
        request.signalled = signal || posted - lastSignalled >= signalInterval || !hasDataSlot();
        if (request.signalled) {
            lastSignalled = posted;
        }
    }

    /** Notes that the latest request asks for a completion. */
    public void signal() {
        lastSignalled = posted;
    }

    /** Returns whether the latest request asks for a completion. */
    public boolean isSignalled() {
        return lastSignalled == posted;
    }

    public void completed(long sequence) {
        if (sequence < completed || sequence >= posted) {
            throw new IllegalArgumentException("sequence: " + sequence + " (expected: " + completed + " to " +
                    (posted - 1) + ')');
        }
        completed = sequence + 1;
    }

    public boolean isCompleted(long sequence) {
        return sequence < completed;
    }

    /** Notes that a request completed with an error, so all before it are done, too. Its slot is not used again. */
    public void failed(long sequence) {
        failed = Math.max(failed, sequence + 1);
    }

    /** One more than the number of the last request that is known to be done, with or without success. */
    public long doneUntil() {
        return Math.max(completed, failed);
    }

    /**
     * Returns whether all requests that ask for a completion have one. Requests behind them carry nothing that is
     * waited for.
     */
    public boolean isDrained() {
        return doneUntil() >= lastSignalled;
    }
}
