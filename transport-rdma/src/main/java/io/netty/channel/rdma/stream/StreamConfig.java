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
 * The sizes of one connection. All are fixed before the connection is made.
 *
 * @param credits maximum number of the peer's data messages under way, {@value #MIN_CREDITS} to {@value #MAX_CREDITS};
 *         the receive queue must have {@link #receiveQueueDepth()} entries
 * @param sendQueueDepth maximum number of send work requests that are not known to be complete, more than {@code
 *         controlSlots}, at most 65535
 * @param controlSlots number of these that only control messages may use, {@value #MIN_CONTROL_SLOTS} to 64
 * @param targetSglEntries entries of our target SGL, 2 to {@value #MAX_SGL_ENTRIES}: the receive buffers that the peer
 *         may advertise ahead
 * @param signalInterval at least one of so many consecutive send work requests asks for a completion, 1 to {@code
 *         sendQueueDepth}
 */
public record StreamConfig(int credits, int sendQueueDepth, int controlSlots, int targetSglEntries,
                           int signalInterval) {
    public static final int MIN_CREDITS = 1;
    /** The longest queue of librdmacm, RS_QP_MAX_SIZE. 16-bit sequence numbers would allow one more. */
    public static final int MAX_CREDITS = 0xFFFE;
    /** Two slots: a credit update, and SHUTDOWN or DISCONNECT behind it. */
    public static final int MIN_CONTROL_SLOTS = 2;
    public static final int MAX_SGL_ENTRIES = 1024;

    /** librdmacm's queue depth and control slots, and a longer table than its two entries. */
    public static final StreamConfig DEFAULT = new StreamConfig(384, 384, 4, 8, 64);

    /** @throws IllegalArgumentException if a value is outside its range */
    public StreamConfig {
        check("credits", credits, MIN_CREDITS, MAX_CREDITS);
        check("controlSlots", controlSlots, MIN_CONTROL_SLOTS, 64);
        check("sendQueueDepth", sendQueueDepth, controlSlots + 1, 65535);
        check("targetSglEntries", targetSglEntries, 2, MAX_SGL_ENTRIES);
        check("signalInterval", signalInterval, 1, sendQueueDepth);
    }

    /**
     * Returns the number of receives to post: one for each credit, and some for control messages, which need no credit.
     * More control messages wait in the sender's queue (RNR), so the RNR retry count of the QP should be 7 (infinite).
     */
    public int receiveQueueDepth() {
        return credits + controlSlots;
    }

    private static void check(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: " + min + " to " + max + ')');
        }
    }
}
