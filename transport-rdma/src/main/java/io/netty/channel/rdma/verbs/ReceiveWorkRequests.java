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

import io.netty.util.internal.UnstableApi;

/**
 * A chain of receive work requests ({@code struct ibv_recv_wr}) in native memory, posted with one call of
 * {@link QueuePair#postReceive(ReceiveWorkRequests)} or
 * {@link SharedReceiveQueue#postReceive(ReceiveWorkRequests)}. Receives without memory, as consumed by RDMA writes with
 * immediate data, are cheaper to post with {@link QueuePair#postEmptyReceives(long, int)}.
 * <p>
 * Posting copies the requests; the memory that the elements point to must stay until the completion. One thread at a
 * time.
 */
@UnstableApi
public final class ReceiveWorkRequests extends WorkRequests {
    /**
     * @param maxRequests maximum number of requests in the chain, at least 1.
     * @param maxSges     maximum number of scatter-gather elements of all requests together, 0 or more.
     */
    public ReceiveWorkRequests(int maxRequests, int maxSges) {
        super(NativeMemory.RECV_WR_SIZE, maxRequests, maxSges);
    }

    /** Starts a receive. */
    public ReceiveWorkRequests receive(long workRequestId) {
        startRequest(workRequestId);
        return this;
    }

    /**
     * Adds memory to the receive started last.
     *
     * @param length in bytes, 0 or more.
     * @param lkey   of a region with {@link AccessFlags#LOCAL_WRITE} that contains the range.
     * @throws IllegalStateException if no receive was started or there is no room.
     */
    public ReceiveWorkRequests addSge(long memoryAddress, int length, int lkey) {
        addElement(memoryAddress, length, lkey);
        return this;
    }
}
