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

import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.VerbsException;

import java.util.Arrays;

/**
 * The receives that are kept posted for one connection. What arrives before the peer's connection data is known waits
 * here. On the loop of the connection.
 */
final class ReceiveQueue {
    /** Takes what an empty receive was completed with. */
    interface Consumer {
        void receive(int immediate, int length);
    }

    private final QueuePair queuePair;
    private int posted;
    /** Immediate and length in turn. */
    private int[] early = new int[16];
    private int earlyCount;

    /** @param posted how many are. */
    ReceiveQueue(QueuePair queuePair, int posted) {
        this.queuePair = queuePair;
        this.posted = posted;
    }

    /** One of them completed. */
    void completed() {
        posted--;
    }

    /** Whether all have come back, so that nothing more can arrive. */
    boolean isFlushed() {
        return posted == 0;
    }

    /**
     * Posts some that have completed again.
     *
     * @throws VerbsException if the queue pair does not take them.
     */
    void postAgain(int count) throws VerbsException {
        int taken = queuePair.postEmptyReceives(ConnectionResources.RECEIVE, count);
        posted += taken;
        if (taken < count) {
            throw queuePair.postException();
        }
    }

    /** Something arrived too early. */
    void keep(int immediate, int length) {
        if (earlyCount == early.length) {
            early = Arrays.copyOf(early, earlyCount * 2);
        }
        early[earlyCount++] = immediate;
        early[earlyCount++] = length;
    }

    /** Now is the time for it. */
    void replay(Consumer consumer) {
        for (int i = 0; i < earlyCount; i += 2) {
            consumer.receive(early[i], early[i + 1]);
        }
        earlyCount = 0;
    }
}
