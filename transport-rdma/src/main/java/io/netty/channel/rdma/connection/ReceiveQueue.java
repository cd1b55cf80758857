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
 * The receives that are kept posted for one connection. They are empty where each message is the immediate data of the
 * completion; where messages are sent, each has room for one. On the loop of the connection.
 */
final class ReceiveQueue {
    /** The value in place of a length if the message was sent; in place of the message is its index. */
    static final int SENT = -1;
    private static final int MAX_CHAIN = 32;

    private final QueuePair queuePair;
    /** Where messages are sent to, by the receives in turn; {@code null} where they are immediate data. */
    private final ReceiveBuffer messages;
    private final int messageSize;
    private final boolean immediateData;
    private final int depth;
    private final ReceiveWorkRequests chain;
    /** The place of the receive that completes next, and of the one that is posted next. */
    private int first;
    private int next;
    private int posted;
    /** The immediate data of the latest message; or the index in {@link ReceiveBuffer#messages()} if it was sent. */
    int message;
    /** The length in bytes of what the peer has written with it, or {@link #SENT}. */
    int length;

    /**
     * @param depth    the most that are posted.
     * @param messages      with so many places for messages; {@code null} where they are immediate data.
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
     * Takes what the receive that has just completed got: {@link #message} and {@link #length}.
     *
     * @return whether it is a message of the protocol.
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
     * Posts some, at first or again.
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
