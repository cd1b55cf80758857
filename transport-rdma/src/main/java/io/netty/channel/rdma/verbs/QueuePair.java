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
 * A queue pair ({@code struct ibv_qp}), made by {@link ConnectionId#createQueuePair} or
 * {@link ProtectionDomain#createQueuePair}.
 * <p>
 * Sends and receives are posted by one thread at a time. Posting fails by result, not by exception: see
 * {@link #postSend(SendWorkRequests)}.
 */
@UnstableApi
public final class QueuePair extends VerbsObject {
    private static final String POST_SEND = "ibv_post_send";
    private static final String POST_RECEIVE = "ibv_post_recv";

    private final int number;
    private final int maxSendRequests;
    private final int maxReceiveRequests;
    private final int maxSendSges;
    private final int maxReceiveSges;
    private final int maxInlineData;
    private final int maxInlineReceive;
    private final ConnectionId connectionId;
    private String postCall = POST_SEND;
    private int postErrno;

    /**
     * @param values       as filled by {@code queue_pair.c}.
     * @param connectionId the id that destroys the queue pair, or {@code null}.
     * @param parents      already retained.
     */
    QueuePair(long address, int[] values, ConnectionId connectionId, VerbsObject... parents) {
        super(VerbsResource.QUEUE_PAIR, address, parents);
        this.connectionId = connectionId;
        number = number0(address);
        maxSendRequests = values[2];
        maxReceiveRequests = values[3];
        maxSendSges = values[4];
        maxReceiveSges = values[5];
        maxInlineData = values[6];
        maxInlineReceive = values[7];
    }

    /** The 24-bit number that completions carry. Any thread, also after {@link #close()}. */
    public int number() {
        return number;
    }

    /** Maximum number of outstanding send work requests. */
    public int maxSendRequests() {
        return maxSendRequests;
    }

    /** Maximum number of outstanding receive work requests; 0 with a {@link SharedReceiveQueue}. */
    public int maxReceiveRequests() {
        return maxReceiveRequests;
    }

    /** Maximum number of elements of a send work request. */
    public int maxSendSges() {
        return maxSendSges;
    }

    /** Maximum number of elements of a receive work request; 0 with a {@link SharedReceiveQueue}. */
    public int maxReceiveSges() {
        return maxReceiveSges;
    }

    /** Maximum number of bytes of a request with {@link SendFlags#INLINE}. */
    public int maxInlineData() {
        return maxInlineData;
    }

    /**
     * Returns the maximum number of bytes of a received message that travel in its completion. May be less than {@link
     * QueuePairInitAttributes#maxInlineReceive}, or 0, if the device grants no more.
     */
    public int maxInlineReceive() {
        return maxInlineReceive;
    }

    /**
     * Posts a chain of send work requests with one call.
     *
     * @return the number of posted requests. If it is less than {@link SendWorkRequests#size()}, {@link #postErrno()}
     *         tells why the next one was refused ({@link Errno#ENOMEM}: the send queue is full; {@link Errno#EINVAL}: a
     *         malformed request or the wrong state). That request and the later ones have had no effect.
     */
    public int postSend(SendWorkRequests requests) {
        long qp = address();
        requests.requireUsableBy(this);
        return posted(POST_SEND, requests.isEmpty() ? 0 : postSend0(qp, requests.address()), requests.size());
    }

    /**
     * Posts a chain of receive work requests with one call. Not for a queue pair with a {@link SharedReceiveQueue}.
     *
     * @return how many were posted, as for {@link #postSend(SendWorkRequests)}.
     */
    public int postReceive(ReceiveWorkRequests requests) {
        long qp = address();
        return posted(POST_RECEIVE, requests.isEmpty() ? 0 : postReceive0(qp, requests.address()), requests.size());
    }

    /**
     * Posts receives without memory, as RDMA writes with immediate data and empty sends consume them.
     *
     * @param workRequestId of all of them.
     * @param count         0 or more.
     * @return how many were posted, as for {@link #postSend(SendWorkRequests)}.
     */
    public int postEmptyReceives(long workRequestId, int count) {
        long qp = address();
        return posted(POST_RECEIVE, count <= 0 ? 0 : postEmptyReceives0(qp, workRequestId, count), Math.max(count, 0));
    }

    /** Returns the error of the latest post on this queue pair; 0 if it posted all requests. */
    public int postErrno() {
        return postErrno;
    }

    /** The error of {@link #postErrno()} for a person. */
    public VerbsException postException() {
        return new VerbsException(postCall, postErrno, "post work requests to queue pair " +
                Integer.toUnsignedString(number));
    }

    /** Asks the device for the state. */
    public QueuePairState state() throws VerbsException {
        int state = state0(api(), address());
        if (state < 0) {
            throw new VerbsException("ibv_query_qp", -state, "query queue pair " + Integer.toUnsignedString(number));
        }
        return QueuePairState.of(state);
    }

    /** Asks the device for the attributes that the queue pair uses, which depend on the way it was connected. */
    public QueuePairInfo query() throws VerbsException {
        int[] values = new int[QueuePairInfo.COUNT];
        check(query0(api(), address(), values), "ibv_query_qp", "query queue pair " + Integer.toUnsignedString(number));
        return new QueuePairInfo(verbs().provider(), ((ProtectionDomain) parent(0)).device().name(), number,
                maxInlineReceive, values);
    }

    /**
     * Changes the state or other attributes.
     *
     * @throws VerbsException with {@link Errno#EINVAL} for a transition or combination that ibv_modify_qp(3) forbids.
     */
    public void modify(QueuePairAttributes attributes) throws VerbsException {
        check(modify0(api(), address(), attributes.mask, attributes.values, attributes.gid), "ibv_modify_qp",
                () -> "modify queue pair " + Integer.toUnsignedString(number));
    }

    /**
     * Makes a queue pair for datagrams a member of a multicast group. Groups that are joined with {@link
     * ConnectionId#joinMulticast} need no such call. {@link #detachMulticast} must be called before {@link #close()}.
     * May block: the embedded provider asks another process, and waits at most 2 seconds ({@link Errno#ETIMEDOUT}).
     *
     * @param group of {@link AddressVector#isMulticast()}, with the LID of the group on InfiniBand.
     * @throws VerbsException with {@link Errno#EINVAL} if it is no group or this is no queue pair for datagrams,
     *                        {@link Errno#ENOMEM} beyond {@link DeviceAttributes#maxMulticastMembers()}.
     */
    public void attachMulticast(AddressVector group) throws VerbsException {
        check(attachMulticast0(api(), address(), group.gid, group.destinationLid()), "ibv_attach_mcast",
                "make queue pair " + Integer.toUnsignedString(number) + " a member of the group at " + group);
    }

    /**
     * Undoes {@link #attachMulticast}.
     *
     * @throws VerbsException with {@link Errno#EINVAL} if the queue pair is not a member.
     */
    public void detachMulticast(AddressVector group) throws VerbsException {
        check(detachMulticast0(api(), address(), group.gid, group.destinationLid()), "ibv_detach_mcast",
                "take queue pair " + Integer.toUnsignedString(number) + " out of the group at " + group);
    }

    /**
     * Moves the queue pair to the error state. All outstanding work requests complete; those not executed complete as
     * {@link WorkCompletionStatus#WORK_REQUEST_FLUSHED}. So their memory can be used again before {@link #close()}.
     */
    public void toError() throws VerbsException {
        modify(new QueuePairAttributes().state(QueuePairState.ERROR));
    }

    /**
     * Destroys the queue pair. Its outstanding work requests do not complete any more, and completions in a completion
     * queue may be lost (ibv_destroy_qp(3)). So call {@link #toError()} and take the completions first.
     *
     * @throws IllegalStateException if the queue pair is a member of a multicast group.
     */
    @Override
    public void close() {
        super.close();
    }

    @Override
    int destroy(long address) {
        return connectionId == null ? destroy0(api(), address) : connectionId.destroyQueuePair();
    }

    @Override
    public String toString() {
        return super.toString() + ' ' + Integer.toUnsignedString(number);
    }

    private int posted(String call, long result, int count) {
        postCall = call;
        postErrno = (int) result;
        return WorkRequests.posted(result, count);
    }

    static native long create0(long api, long pd, long sendQueue, long receiveQueue, long sharedReceiveQueue,
                               int[] values);

    static native long createWithId0(long api, long id, long pd, long sendQueue, long receiveQueue,
                                     long sharedReceiveQueue, int[] values);

    private static native int destroy0(long api, long qp);

    private static native int number0(long qp);

    private static native int state0(long api, long qp);

    private static native int query0(long api, long qp, int[] values);

    private static native int modify0(long api, long qp, int mask, int[] values, byte[] gid);

    private static native int attachMulticast0(long api, long qp, byte[] gid, int lid);

    private static native int detachMulticast0(long api, long qp, byte[] gid, int lid);

    private static native long postSend0(long qp, long requests);

    private static native long postReceive0(long qp, long requests);

    private static native long postEmptyReceives0(long qp, long workRequestId, int count);
}
