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

import io.netty.channel.rdma.loop.LoopReceiveQueue;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositive;

/**
 * Settings for the waiting of a {@link RdmaIoHandler}, to be made before the event loops are created.
 *
 * <p>An event loop that sleeps needs 3 to 70 microseconds to wake up, depending on the machine, which is many times as
 * long as a message takes. So by default an event loop polls for a while before it sleeps, if messages come quickly and
 * no other thread wants the core. An idle event loop sleeps.
 */
public final class RdmaIoHandlerConfig {
    private static final int DEFAULT_MAX_SPIN_MICROS = 200;

    private boolean busyPoll;
    private int maxSpinMicros = DEFAULT_MAX_SPIN_MICROS;
    private int pollBatch = 64;
    private int sharedReceiveQueueDepth = LoopReceiveQueue.DEFAULT_DEPTH;

    /** Has all defaults. */
    public RdmaIoHandlerConfig() { }

    /**
     * Sets whether the loop never sleeps while it has an RDMA connection. This gives the lowest latency, for one core
     * per event loop. Default false.
     */
    public RdmaIoHandlerConfig setBusyPoll(boolean busyPoll) {
        this.busyPoll = busyPoll;
        return this;
    }

    public boolean isBusyPoll() {
        return busyPoll;
    }

    /**
     * The longest time, in microseconds, to poll before going to sleep, 0 to 1000000. An event loop polls no longer
     * than about four wake-ups take, only after waits that were as short, and not while other threads want its core.
     * Now and then it polls for 50 times as long, if it seems that the peer waits for the same core, until the
     * operating system has moved one of them. With 0 it goes to sleep at once, which takes less CPU time, but each
     * message to a sleeping event loop waits for a wake-up. Default 200.
     */
    public RdmaIoHandlerConfig setMaxSpinMicros(int maxSpinMicros) {
        this.maxSpinMicros = checkInRange(maxSpinMicros, 0, 1_000_000, "maxSpinMicros");
        return this;
    }

    public int getMaxSpinMicros() {
        return maxSpinMicros;
    }

    /**
     * The most completions that are taken from a completion queue before the channels handle them, at least 1.
     * Default 64.
     */
    public RdmaIoHandlerConfig setPollBatch(int pollBatch) {
        this.pollBatch = checkPositive(pollBatch, "pollBatch");
        return this;
    }

    public int getPollBatch() {
        return pollBatch;
    }

    /**
     * The most receives ({@code ibv_srq_attr.max_wr}) of the queue that the channels of an event loop with {@link
     * RdmaChannelOption#SHARED_RECEIVE_QUEUE} share, 16 to 32768. So many messages of all of them may arrive while the
     * loop is busy with something else. The queue has 64 receives at first, and more when they run low. Default 1024,
     * or the device's {@code max_srq_wr} if that is less.
     */
    public RdmaIoHandlerConfig setSharedReceiveQueueDepth(int depth) {
        sharedReceiveQueueDepth = checkInRange(depth, 16, 32768, "sharedReceiveQueueDepth");
        return this;
    }

    public int getSharedReceiveQueueDepth() {
        return sharedReceiveQueueDepth;
    }

    RdmaIoHandlerConfig copy() {
        return new RdmaIoHandlerConfig().setBusyPoll(busyPoll).setMaxSpinMicros(maxSpinMicros).setPollBatch(pollBatch)
                .setSharedReceiveQueueDepth(sharedReceiveQueueDepth);
    }
}
