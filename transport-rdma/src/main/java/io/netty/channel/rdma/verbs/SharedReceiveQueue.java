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
 * A queue of receives that several queue pairs take from ({@code struct ibv_srq}), made by {@link
 * ProtectionDomain#createSharedReceiveQueue} and given to them by {@link QueuePairInitAttributes#sharedReceiveQueue}. A
 * message of any of these queue pairs takes a receive when it begins. The completion is in the queue pair's completion
 * queue, and has the queue pair's number. While the queue is empty, senders wait or fail by their RNR retry count, as
 * with an empty receive queue.
 * <p>
 * Used by one thread at a time. When a queue pair goes to the error state, the receives that it has not taken stay for
 * the others. When it has completed those that it took, there is an event, {@link AsyncEvent#isLastReceiveReached()}
 * (not with the soft-RoCE of Linux 6.1).
 */
@UnstableApi
public final class SharedReceiveQueue extends VerbsObject {
    private final int maxRequests;
    private final int maxSges;
    private int postErrno;

    /**
     * @param values as filled by {@code shared_receive_queue.c}.
     * @param domain already retained.
     */
    SharedReceiveQueue(long address, int[] values, ProtectionDomain domain) {
        super(VerbsResource.SHARED_RECEIVE_QUEUE, address, domain);
        maxRequests = values[0];
        maxSges = values[1];
    }

    /** Maximum number of receives in the queue. */
    public int maxRequests() {
        return maxRequests;
    }

    /** Maximum number of elements of a receive. */
    public int maxSges() {
        return maxSges;
    }

    /**
     * Posts a chain of receive work requests with one call.
     *
     * @return the number of posted requests. If it is less than {@link ReceiveWorkRequests#size()}, {@link
     *         #postErrno()} tells why the next one was refused ({@link Errno#ENOMEM}: the queue is full; {@link
     *         Errno#EINVAL}: too many elements). That request and the later ones have had no effect.
     */
    public int postReceive(ReceiveWorkRequests requests) {
        long srq = address();
        long result = requests.isEmpty() ? 0 : postReceive0(srq, requests.address());
        postErrno = (int) result;
        return WorkRequests.posted(result, requests.size());
    }

    /** Returns the error of the latest post; 0 if it posted all requests. */
    public int postErrno() {
        return postErrno;
    }

    /** The error of {@link #postErrno()} for a person. */
    public VerbsException postException() {
        return new VerbsException("ibv_post_srq_recv", postErrno, "post receives to a shared receive queue");
    }

    /**
     * Asks for one event, {@link AsyncEvent#isSharedReceiveLimitReached()}, when a receive is taken and fewer than
     * {@code limit} are left. After the event the queue must be armed again.
     *
     * @param limit 0 to {@link #maxRequests()}; 0 disarms.
     */
    public void arm(int limit) throws VerbsException {
        ObjectUtil.checkPositiveOrZero(limit, "limit");
        check(arm0(api(), address(), limit), "ibv_modify_srq", "arm a shared receive queue at " + limit + " receives");
    }

    /** The limit that the queue is armed with, or 0 if it is not. */
    public int limit() throws VerbsException {
        int limit = limit0(api(), address());
        if (limit < 0) {
            throw new VerbsException("ibv_query_srq", -limit, "query a shared receive queue");
        }
        return limit;
    }

    /**
     * Destroys the queue. The receives in it give no completion.
     *
     * @throws IllegalStateException if queue pairs use it.
     */
    @Override
    public void close() {
        super.close();
    }

    @Override
    int destroy(long address) {
        return destroy0(api(), address);
    }

    /** The values: capacity and elements, both in and out. */
    static native long create0(long api, long pd, int[] values);

    private static native int destroy0(long api, long srq);

    private static native int arm0(long api, long srq, int limit);

    private static native int limit0(long api, long srq);

    private static native long postReceive0(long srq, long requests);
}
