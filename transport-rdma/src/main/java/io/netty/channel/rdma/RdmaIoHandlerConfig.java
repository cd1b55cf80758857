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

import io.netty.util.NettyRuntime;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositive;

/**
 * How a {@link RdmaIoHandler} waits. To be set up before the event loops are created.
 *
 * <p>An event loop that sleeps needs some 20 microseconds to wake up, which is many times what a message takes. So it
 * pays to look for completions for a while before going to sleep, as long as there is a core to spare for it.
 */
public final class RdmaIoHandlerConfig {
    private static final int DEFAULT_MAX_SPIN_MICROS = 50;
    static final int DEFAULT_SHARED_RECEIVE_QUEUE_DEPTH = 1024;

    private boolean busyPoll;
    // With one or two cores, the spinning thread would keep the one that it waits for from running.
    private int maxSpinMicros = NettyRuntime.availableProcessors() > 2 ? DEFAULT_MAX_SPIN_MICROS : 0;
    private int pollBatch = 64;
    private int sharedReceiveQueueDepth = DEFAULT_SHARED_RECEIVE_QUEUE_DEPTH;

    /**
     * Never sleep while there is an RDMA connection on the loop: the lowest latency, for one core per event loop.
     * Default false.
     */
    public RdmaIoHandlerConfig setBusyPoll(boolean busyPoll) {
        this.busyPoll = busyPoll;
        return this;
    }

    public boolean isBusyPoll() {
        return busyPoll;
    }

    /**
     * The longest time, in microseconds, to look for completions before going to sleep, 0 (don't) to 1000000. It is
     * used only while completions have recently come within such a time. Default 50 on machines with more than two
     * processors, else 0.
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
     * RdmaChannelOption#SHARED_RECEIVE_QUEUE} share, 16 to 32768: how many messages of all of them may arrive while the
     * loop is busy with something else. There are 64 at first, and more when those run low. Default 1024, or the
     * device's {@code max_srq_wr} if that is less.
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
