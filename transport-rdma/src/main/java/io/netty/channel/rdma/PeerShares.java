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

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Shares of a bounded amount, by peer. A peer may use as much as is left. So one peer alone gets half, two get a third
 * each, and a peer that uses nothing always finds some. (This is the dynamic threshold of Choudhury and Hahne, "Dynamic
 * queue length thresholds for shared-memory packet switches", 1998.) Any thread.
 */
final class PeerShares {
    private final Map<Object, Long> used = new HashMap<>();
    private long usedByAll;
    private final Set<Runnable> waiting = new LinkedHashSet<>();

    /**
     * Takes a share. While no peer has a share, any amount may be taken.
     *
     * @param limit for all peers together.
     * @return false, and takes nothing, if the peer may not have so much.
     */
    synchronized boolean take(Object peer, long amount, long limit) {
        long own = used.getOrDefault(peer, 0L);
        if (usedByAll > 0 && own + amount > limit - usedByAll) {
            return false;
        }
        used.put(peer, own + amount);
        usedByAll += amount;
        return true;
    }

    /** Runs the task once, when a share is given back. The task must be quick. */
    synchronized void await(Runnable task) {
        waiting.add(task);
    }

    synchronized void forget(Runnable task) {
        waiting.remove(task);
    }

    void giveBack(Object peer, long amount) {
        Runnable[] tasks;
        synchronized (this) {
            usedByAll -= amount;
            long own = used.getOrDefault(peer, 0L);
            if (own <= amount) {
                used.remove(peer);
            } else {
                used.put(peer, own - amount);
            }
            tasks = waiting.toArray(new Runnable[0]);
            waiting.clear();
        }
        for (Runnable task : tasks) {
            task.run();
        }
    }
}
