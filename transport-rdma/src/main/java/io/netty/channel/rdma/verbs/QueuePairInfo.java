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

/**
 * The attributes that a queue pair used when its device was asked ({@code struct ibv_qp_attr}, ibv_query_qp(3)).
 * Immutable.
 */
public final class QueuePairInfo {
    static final int COUNT = 19;

    private final VerbsProvider provider;
    private final String deviceName;
    private final int number;
    private final int maxInlineReceive;
    private final int[] values;

    /** @param values in the order of the accessors below, as filled by {@code queue_pair.c}. */
    QueuePairInfo(VerbsProvider provider, String deviceName, int number, int maxInlineReceive, int[] values) {
        this.provider = provider;
        this.deviceName = deviceName;
        this.number = number;
        this.maxInlineReceive = maxInlineReceive;
        this.values = values;
    }

    /** The provider of the queue pair: shared memory of this host, or an RDMA device. */
    public VerbsProvider provider() {
        return provider;
    }

    /** The kernel's name of the device, for example {@code mlx5_0} or {@code rxe0}. */
    public String deviceName() {
        return deviceName;
    }

    /** The 24-bit number of the queue pair. */
    public int number() {
        return number;
    }

    /** The number of the peer's queue pair. */
    public int peerNumber() {
        return values[0];
    }

    /** The port of the device, from 1. */
    public int port() {
        return values[1];
    }

    /** The index of the local address in the port's GID table, or -1 if packets have no global header. */
    public int gidIndex() {
        return values[2];
    }

    /** Maximum number of bytes of a packet's payload: 256, 512, 1024, 2048 or 4096. */
    public int pathMtu() {
        return values[3] <= 0 ? 0 : 128 << values[3];
    }

    /** The traffic class of the global header (on RoCE v2 the IP type of service), 0 to 255; -1 as for the GID. */
    public int trafficClass() {
        return values[4];
    }

    /** The InfiniBand service level, 0 to 15. */
    public int serviceLevel() {
        return values[5];
    }

    /** The acknowledgement timeout is 4.096 microseconds times 2 to this power; 0 is none. */
    public int ackTimeout() {
        return values[6];
    }

    /** The number of times to try again without an acknowledgement, 0 to 7. */
    public int retryCount() {
        return values[7];
    }

    /** The number of retries if the peer has no receive posted, 0 to 6; 7 is infinite. */
    public int rnrRetryCount() {
        return values[8];
    }

    /** Waiting time of a peer that found no receive, as a code of the table in ibv_modify_qp(3): 0 to 31. */
    public int minRnrTimer() {
        return values[9];
    }

    /** Maximum number of outstanding send work requests. */
    public int maxSendRequests() {
        return values[10];
    }

    /** Maximum number of outstanding receive work requests; 0 with a {@link SharedReceiveQueue}. */
    public int maxReceiveRequests() {
        return values[11];
    }

    /** Maximum number of elements of a send work request. */
    public int maxSendSges() {
        return values[12];
    }

    /** Maximum number of elements of a receive work request. */
    public int maxReceiveSges() {
        return values[13];
    }

    /** Maximum number of bytes of a request with {@link SendFlags#INLINE}. */
    public int maxInlineData() {
        return values[14];
    }

    /** Maximum number of bytes of a received message that travel in its completion, as far as the device tells. */
    public int maxInlineReceive() {
        return maxInlineReceive;
    }

    public QueuePairState state() {
        return QueuePairState.of(values[15]);
    }

    /** Maximum number of RDMA reads and atomics that this end has under way at a time ({@code max_rd_atomic}). */
    public int initiatorDepth() {
        return values[16];
    }

    /** Maximum number of RDMA reads and atomics of the peer that are under way here ({@code max_dest_rd_atomic}). */
    public int responderResources() {
        return values[17];
    }

    /** The operations that the peer may do through the queue pair, as bits of {@link AccessFlags}. */
    public int accessFlags() {
        return values[18];
    }

    @Override
    public String toString() {
        return deviceName + " port " + port() + ", GID index " + gidIndex() + ", queue pair " + number + " to " +
                peerNumber() + " (" + state() + "), path MTU " + pathMtu() + ", traffic class " + trafficClass() +
                ", service level " + serviceLevel() + ", ACK timeout " + ackTimeout() + ", retry count " +
                retryCount() + ", RNR retry count " + rnrRetryCount() + ", min RNR timer " + minRnrTimer() + ", " +
                initiatorDepth() + " reads here and " + responderResources() + " of the peer, access flags 0x" +
                Integer.toHexString(accessFlags()) + ", " + maxSendRequests() + " sends of " + maxSendSges() +
                " elements and " + maxInlineData() + " bytes inline, " +
                (maxReceiveRequests() == 0 ? "shared" : maxReceiveRequests()) + " receives" +
                (maxInlineReceive == 0 ? "" : " with " + maxInlineReceive + " bytes inline");
    }
}
