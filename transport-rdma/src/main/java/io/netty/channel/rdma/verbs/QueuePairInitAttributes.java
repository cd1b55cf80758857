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
package io.netty.channel.rdma.verbs;

import io.netty.util.internal.ObjectUtil;
import io.netty.util.internal.UnstableApi;

/**
 * The attributes for creating a queue pair ({@code struct ibv_qp_init_attr}, ibv_create_qp(3)). The device may grant
 * more: see {@link QueuePair#maxSendRequests()} and the methods next to it. May be reused.
 */
@UnstableApi
public final class QueuePairInitAttributes {
    final CompletionQueue sendQueue;
    final CompletionQueue receiveQueue;
    private SharedReceiveQueue sharedReceiveQueue;
    private QueuePairType type = QueuePairType.RELIABLE_CONNECTION;
    private int maxSendRequests = 1;
    private int maxReceiveRequests = 1;
    private int maxSendSges = 1;
    private int maxReceiveSges = 1;
    private int maxInlineData;
    private int maxInlineReceive;
    private boolean signalAll;

    /**
     * @param sendQueue    gets the completions of the send queue.
     * @param receiveQueue gets those of the receive queue; it may be the same.
     */
    public QueuePairInitAttributes(CompletionQueue sendQueue, CompletionQueue receiveQueue) {
        this.sendQueue = ObjectUtil.checkNotNull(sendQueue, "sendQueue");
        this.receiveQueue = ObjectUtil.checkNotNull(receiveQueue, "receiveQueue");
    }

    /** Default: {@link QueuePairType#RELIABLE_CONNECTION}. */
    public QueuePairInitAttributes type(QueuePairType newType) {
        type = ObjectUtil.checkNotNull(newType, "newType");
        return this;
    }

    /** Maximum number of outstanding send work requests. Default 1. */
    public QueuePairInitAttributes maxSendRequests(int requests) {
        maxSendRequests = ObjectUtil.checkPositiveOrZero(requests, "requests");
        return this;
    }

    /**
     * The shared receive queue that the queue pair uses instead of a queue of its own, whose sizes are then ignored.
     * Default {@code null}.
     */
    public QueuePairInitAttributes sharedReceiveQueue(SharedReceiveQueue queue) {
        sharedReceiveQueue = queue;
        return this;
    }

    /** Maximum number of outstanding receive work requests. Default 1. */
    public QueuePairInitAttributes maxReceiveRequests(int requests) {
        maxReceiveRequests = ObjectUtil.checkPositiveOrZero(requests, "requests");
        return this;
    }

    /** Maximum number of scatter-gather elements of a send work request. Default 1. */
    public QueuePairInitAttributes maxSendSges(int sges) {
        maxSendSges = ObjectUtil.checkPositiveOrZero(sges, "sges");
        return this;
    }

    /** Maximum number of scatter-gather elements of a receive work request. Default 1. */
    public QueuePairInitAttributes maxReceiveSges(int sges) {
        maxReceiveSges = ObjectUtil.checkPositiveOrZero(sges, "sges");
        return this;
    }

    /** Maximum number of bytes of a request with {@link SendFlags#INLINE}. Default 0. */
    public QueuePairInitAttributes maxInlineData(int bytes) {
        maxInlineData = ObjectUtil.checkPositiveOrZero(bytes, "bytes");
        return this;
    }

    /**
     * Maximum number of bytes of a received message that may travel in its completion. {@link CompletionQueue#poll}
     * copies them to the memory of the receive, which saves one bus transfer for a short message. The device may grant
     * less, mostly 0: see {@link QueuePair#maxInlineReceive()}. Default 0.
     */
    public QueuePairInitAttributes maxInlineReceive(int bytes) {
        maxInlineReceive = ObjectUtil.checkPositiveOrZero(bytes, "bytes");
        return this;
    }

    /** Returns whether each send work request gives a completion, whatever its flags are. Default false. */
    public QueuePairInitAttributes signalAll(boolean all) {
        signalAll = all;
        return this;
    }

    /** The address of the shared receive queue, or 0. */
    long sharedReceiveQueueAddress() {
        return sharedReceiveQueue == null ? 0 : sharedReceiveQueue.address();
    }

    /** The objects that the queue pair uses. */
    VerbsObject[] parents(ProtectionDomain domain) {
        return sharedReceiveQueue == null ? new VerbsObject[] { domain, sendQueue, receiveQueue } :
                new VerbsObject[] { domain, sendQueue, receiveQueue, sharedReceiveQueue };
    }

    /**
     * The values in the order in which {@code queue_pair.c} reads them; it puts the actual capabilities into entries 2
     * to 7.
     */
    int[] values() {
        return new int[] {
                type.value, signalAll ? 1 : 0, maxSendRequests, maxReceiveRequests, maxSendSges, maxReceiveSges,
                maxInlineData, maxInlineReceive
        };
    }

    String describe(Device device) {
        return "create a queue pair on " + device.name() + " with " + maxSendRequests + " send requests of " +
                maxSendSges + " elements, " + (sharedReceiveQueue != null ? "a shared receive queue" :
                maxReceiveRequests + " receives of " + maxReceiveSges + " elements") + " and " + maxInlineData +
                " bytes inline";
    }
}
