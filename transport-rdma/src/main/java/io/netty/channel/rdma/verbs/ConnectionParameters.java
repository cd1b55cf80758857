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

import io.netty.util.internal.EmptyArrays;
import io.netty.util.internal.ObjectUtil;
import io.netty.util.internal.UnstableApi;

/**
 * The parameters of a connect or an acceptance ({@code struct rdma_conn_param}, rdma_connect(3), rdma_accept(3)). May
 * be reused.
 */
@UnstableApi
public final class ConnectionParameters {
    byte[] privateData = EmptyArrays.EMPTY_BYTES;
    int responderResources;
    int initiatorDepth;
    boolean flowControl = true;
    int retryCount = 7;
    int rnrRetryCount = 7;
    int queuePairNumber;

    /** Has all defaults. */
    public ConnectionParameters() {
    }

    /**
     * Private data for the peer's event. In the TCP port space at most 56 with a connect and 196 with an accept, in the
     * UDP port space 180 and 136. The peer gets them padded with zeroes to the maximum. Default none.
     *
     * @param data at most 255 bytes; copied.
     */
    public ConnectionParameters privateData(byte[] data) {
        ObjectUtil.checkInRange(data.length, 0, 255, "length of private data");
        privateData = data.clone();
        return this;
    }

    /** Maximum number of RDMA reads and atomics that the peer may have outstanding here, 0 to 255. Default 0. */
    public ConnectionParameters responderResources(int resources) {
        responderResources = ObjectUtil.checkInRange(resources, 0, 255, "resources");
        return this;
    }

    /** Maximum number of RDMA reads and atomics that we will have outstanding, 0 to 255. Default 0. */
    public ConnectionParameters initiatorDepth(int depth) {
        initiatorDepth = ObjectUtil.checkInRange(depth, 0, 255, "depth");
        return this;
    }

    /** Returns whether hardware flow control is available. Default true. */
    public ConnectionParameters flowControl(boolean available) {
        flowControl = available;
        return this;
    }

    /** The number of times to try again before {@link WorkCompletionStatus#RETRY_EXCEEDED_ERROR}, 0 to 7. Default 7. */
    public ConnectionParameters retryCount(int count) {
        retryCount = ObjectUtil.checkInRange(count, 0, 7, "count");
        return this;
    }

    /** Number of the peer's retries if no receive is posted here, 0 to 6; 7, the default, is infinite. */
    public ConnectionParameters rnrRetryCount(int count) {
        rnrRetryCount = ObjectUtil.checkInRange(count, 0, 7, "count");
        return this;
    }

    /**
     * The queue pair, for an id without one of its own. For example one that receives the datagrams of all peers.
     *
     * @param number 0 to 0xFFFFFF.
     */
    public ConnectionParameters queuePairNumber(int number) {
        queuePairNumber = ObjectUtil.checkInRange(number, 0, 0xFFFFFF, "number");
        return this;
    }
}
