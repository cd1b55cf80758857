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
 * The file descriptor that becomes readable when an armed completion queue gets a completion ({@code struct
 * ibv_comp_channel}). No operation on it blocks.
 */
@UnstableApi
public final class CompletionChannel extends VerbsObject {
    private final int fd;
    private final boolean edgeTriggered;

    /** @param device already retained. */
    CompletionChannel(long address, Device device) {
        super(VerbsResource.COMPLETION_CHANNEL, address, device);
        fd = fd0(address);
        edgeTriggered = isEdgeTriggered0(device.api(), address);
    }

    /** Returns the descriptor to watch for reading. The channel owns and closes it. */
    public int fd() {
        address();
        return fd;
    }

    /**
     * Returns whether {@link #fd()} stays readable, and so must be watched edge-triggered ({@code EPOLLET}); otherwise
     * level-triggered.
     */
    public boolean isEdgeTriggered() {
        return edgeTriggered;
    }

    /**
     * Takes the present events, without blocking, and acknowledges them. Must be called when {@link #fd()} is readable,
     * before the completion queues of the channel are polled. Remaining events make the descriptor readable again. If
     * it is edge-triggered, none remains, with any limit.
     *
     * @param max maximum number of events to take, at least 1. A completion queue has one event each time it is armed.
     *         So the number of queues is enough for a program that takes the events before it arms again. A larger
     *         limit costs a system call that finds nothing.
     * @return the bitwise or of the marks of the queues that had events ({@link Device#createCompletionQueue(int,
     *         CompletionChannel, long)}); 0 if there were none.
     */
    public long consumeEvents(int max) throws VerbsException {
        long marks = consume0(api(), address(), max);
        if (marks < 0) {
            throw new VerbsException("ibv_get_cq_event", (int) -marks, "read events of a completion channel");
        }
        return marks;
    }

    @Override
    int destroy(long address) {
        return destroy0(api(), address);
    }

    static native long create0(long api, long context);

    private static native int destroy0(long api, long channel);

    private static native int fd0(long channel);

    private static native boolean isEdgeTriggered0(long api, long channel);

    private static native long consume0(long api, long channel, int max);
}
