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
 * A completion queue ({@code struct ibv_cq}). Polled by one thread at a time.
 */
@UnstableApi
public final class CompletionQueue extends VerbsObject {
    private static final int ARMED = 1 << 30;
    /** {@code enum ext_peer_state} of {@code verbs_api.h}. */
    private static final int LATE = 0, AWAKE = 1;

    private final int capacity;

    /** @param parents device and, where there is one, completion channel; already retained. */
    CompletionQueue(long address, VerbsObject... parents) {
        super(VerbsResource.COMPLETION_QUEUE, address, parents);
        capacity = capacity0(address);
    }

    /** Returns the capacity in completions, at least the requested one. */
    public int capacity() {
        return capacity;
    }

    /**
     * Moves completions to a batch: as many as there are, up to the capacity of the batch. Never blocks.
     *
     * @return their number, which is then {@link WorkCompletions#size()}.
     * @throws VerbsException if the queue is broken, for example by overflow.
     */
    public int poll(WorkCompletions completions) throws VerbsException {
        completions.size(0);
        int n = poll0(address(), completions.address(), completions.capacity());
        if (n < 0) {
            throw new VerbsException("ibv_poll_cq", -n, "poll a completion queue");
        }
        completions.size(n);
        return n;
    }

    /**
     * Polls. If there is nothing, arms the queue and polls again, which closes the race with a completion in between.
     * Makes one call to C.
     *
     * @return whether the queue was armed, so that the next completion makes the completion channel readable. If true,
     *         {@link WorkCompletions#size()} is usually 0, and the caller may go to sleep. If it is not 0, completions
     *         came in between: the caller must handle them and call again (a resulting event is harmless). If false,
     *         {@code size()} is at least 1.
     * @throws VerbsException if the queue is broken, for example by overflow.
     */
    public boolean pollOrArm(WorkCompletions completions) throws VerbsException {
        completions.size(0);
        int n = pollOrArm0(address(), completions.address(), completions.capacity());
        if (n < 0) {
            throw new VerbsException("ibv_req_notify_cq", -n, "poll and arm a completion queue");
        }
        completions.size(n & ~ARMED);
        return (n & ARMED) != 0;
    }

    /**
     * Returns whether the peer of a connection that was busy lately has not taken the last messages, because it has no
     * processor or other work. Only with the embedded provider; otherwise false. Called by the thread that polls. See
     * {@code ext_peer_is} in {@code verbs_api.h}.
     */
    public boolean peerIsLate() {
        return peerIs0(api(), address(), LATE);
    }

    /**
     * Returns whether the thread that takes such a peer's completions does not wait for a completion event. Conditions
     * as for {@link #peerIsLate()}.
     */
    public boolean peerIsAwake() {
        return peerIs0(api(), address(), AWAKE);
    }

    @Override
    int destroy(long address) {
        return destroy0(api(), address);
    }

    static native long create0(long api, long context, int capacity, long channel, long mark);

    private static native int destroy0(long api, long cq);

    private static native int capacity0(long cq);

    private static native int poll0(long cq, long completions, int count);

    private static native int pollOrArm0(long cq, long completions, int count);

    private static native boolean peerIs0(long api, long cq, int state);
}
