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
import io.netty.channel.rdma.verbs.ReceiveWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletions;

/**
 * The receives that are kept posted for one connection. If each message is the immediate data of a completion, they are
 * empty. If messages come by SENDs, each has room for one. On the loop of the connection.
 */
final class ReceiveQueue {
    /** The value of {@link #length} for a message that came by a SEND. {@link #message} is its index then. */
    static final int SENT = -1;
    private static final int MAX_CHAIN = 32;

    private final QueuePair queuePair;
    /** The places for messages that come by SENDs, used in turn; {@code null} if messages are immediate data. */
    private final ReceiveBuffer messages;
    private final int messageSize;
    private final boolean immediateData;
    private final int depth;
    private final ReceiveWorkRequests chain;
    /** The place of the receive that completes next, and of the receive that is posted next. */
    private int first;
    private int next;
    private int posted;
    /** The immediate data of the latest message, or its index in {@link ReceiveBuffer#messages()} after a SEND. */
    int message;
    /** The number of bytes that the peer has written with the message, or {@link #SENT}. */
    int length;

    /**
     * @param depth the most receives that are posted.
     * @param messages has so many places for messages; {@code null} if messages are immediate data.
     * @param messageSize   in bytes.
     * @param immediateData whether messages may be immediate data.
     */
    ReceiveQueue(QueuePair queuePair, int depth, ReceiveBuffer messages, int messageSize, boolean immediateData) {
        this.queuePair = queuePair;
        this.messages = messages;
        this.messageSize = messageSize;
        this.immediateData = immediateData;
        this.depth = depth;
        int requests = Math.min(depth, MAX_CHAIN);
        chain = messages == null ? null : new ReceiveWorkRequests(requests, requests);
    }

    /** Notes that the oldest of the receives completed. */
    void completed() {
        posted--;
        if (messages != null) {
            message = messages.messagesOffset + first * messageSize;
            first = first + 1 == depth ? 0 : first + 1;
        }
    }

    /**
     * Sets {@link #message} and {@link #length} from the receive that has just completed.
     *
     * @return whether the receive got a message of the protocol.
     */
    boolean take(WorkCompletions completions, int index) {
        length = completions.byteLength(index);
        boolean immediate = completions.hasImmediate(index);
        if (messages == null || completions.opcode(index) != WorkCompletionOpcode.RECEIVE) {
            message = immediate ? completions.immediate(index) : 0;
            return immediateData && immediate;
        }
        boolean whole = length == messageSize && !immediate;
        length = SENT;
        return whole;
    }

    /** Returns whether all receives have come back, so that nothing more can arrive. */
    boolean isFlushed() {
        return posted == 0;
    }

    /**
     * Posts so many receives.
     *
     * @throws VerbsException if the queue pair does not take them.
     */
    void post(int count) throws VerbsException {
        if (messages == null) {
            taken(queuePair.postEmptyReceives(ConnectionResources.RECEIVE, count), count);
            return;
        }
        int key = messages.lkey();
        for (int left = count; left > 0; left -= chain.size()) {
            chain.clear();
            for (int i = 0; i < left && chain.remaining() > 0; i++) {
                chain.receive(ConnectionResources.RECEIVE)
                        .addSge(messages.messagesAddress() + next * messageSize, messageSize, key);
                next = next + 1 == depth ? 0 : next + 1;
            }
            taken(queuePair.postReceive(chain), chain.size());
        }
    }

    private void taken(int taken, int count) throws VerbsException {
        posted += taken;
        if (taken < count) {
            throw queuePair.postException();
        }
    }
}
