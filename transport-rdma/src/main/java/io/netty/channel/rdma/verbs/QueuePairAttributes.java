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
 * Attributes for {@link QueuePair#modify(QueuePairAttributes)} ({@code struct ibv_qp_attr}). Those that were set are
 * modified. Needed for queue pairs that are connected without the connection manager, and for attributes unknown to the
 * connection manager: {@link #accessFlags} and {@link #minRnrTimer}. ibv_modify_qp(3) has the attributes of each
 * transition.
 */
@UnstableApi
public final class QueuePairAttributes {
    // enum ibv_qp_attr_mask
    private static final int STATE = 1;
    private static final int ACCESS_FLAGS = 1 << 3;
    private static final int PKEY_INDEX = 1 << 4;
    private static final int PORT = 1 << 5;
    private static final int QKEY = 1 << 6;
    private static final int AV = 1 << 7;
    private static final int PATH_MTU = 1 << 8;
    private static final int TIMEOUT = 1 << 9;
    private static final int RETRY_COUNT = 1 << 10;
    private static final int RNR_RETRY = 1 << 11;
    private static final int RQ_PSN = 1 << 12;
    private static final int MAX_QP_RD_ATOMIC = 1 << 13;
    private static final int MIN_RNR_TIMER = 1 << 15;
    private static final int SQ_PSN = 1 << 16;
    private static final int MAX_DEST_RD_ATOMIC = 1 << 17;
    private static final int DEST_QPN = 1 << 20;

    // Indexes of values[], in the order in which queue_pair.c reads them.
    private static final int I_STATE = 0;
    private static final int I_ACCESS_FLAGS = 1;
    private static final int I_PKEY_INDEX = 2;
    private static final int I_PORT = 3;
    private static final int I_QKEY = 4;
    private static final int I_PATH_MTU = 5;
    private static final int I_TIMEOUT = 6;
    private static final int I_RETRY_COUNT = 7;
    private static final int I_RNR_RETRY = 8;
    private static final int I_RQ_PSN = 9;
    private static final int I_MAX_QP_RD_ATOMIC = 10;
    private static final int I_MIN_RNR_TIMER = 11;
    private static final int I_SQ_PSN = 12;
    private static final int I_MAX_DEST_RD_ATOMIC = 13;
    private static final int I_DEST_QPN = 14;
    private static final int I_AV_LID = 15;
    private static final int I_AV_PORT = 16;
    private static final int I_AV_SERVICE_LEVEL = 17;
    private static final int I_AV_GLOBAL = 18;
    private static final int I_AV_GID_INDEX = 19;
    private static final int I_AV_HOP_LIMIT = 20;
    private static final int I_AV_TRAFFIC_CLASS = 21;
    private static final int COUNT = 22;

    final int[] values = new int[COUNT];
    final byte[] gid = new byte[16];
    int mask;

    /** Has no attribute yet. */
    public QueuePairAttributes() {
    }

    public QueuePairAttributes state(QueuePairState state) {
        return set(STATE, I_STATE, state.ordinal());
    }

    /** The accesses that the peer may make, of {@link AccessFlags}. */
    public QueuePairAttributes accessFlags(int flags) {
        return set(ACCESS_FLAGS, I_ACCESS_FLAGS, flags);
    }

    /** The place in the port's table of partition keys, 0 to 65535. */
    public QueuePairAttributes partitionKeyIndex(int index) {
        return set(PKEY_INDEX, I_PKEY_INDEX, ObjectUtil.checkInRange(index, 0, 0xFFFF, "index"));
    }

    /** The local port, from 1. */
    public QueuePairAttributes port(int port) {
        return set(PORT, I_PORT, ObjectUtil.checkInRange(port, 1, 255, "port"));
    }

    /** The key of a queue pair for datagrams, which its senders must know. */
    public QueuePairAttributes queueKey(int key) {
        return set(QKEY, I_QKEY, key);
    }

    /** The path MTU in bytes: 256, 512, 1024, 2048 or 4096. */
    public QueuePairAttributes pathMtu(int bytes) {
        if (bytes < 256 || bytes > 4096 || Integer.bitCount(bytes) != 1) {
            throw new IllegalArgumentException("bytes: " + bytes + " (expected: 256, 512, 1024, 2048 or 4096)");
        }
        return set(PATH_MTU, I_PATH_MTU, Integer.numberOfTrailingZeros(bytes) - 7);
    }

    /** The acknowledgement timeout is 4.096 microseconds times 2 to this power, 0 to 31; 0 is none. */
    public QueuePairAttributes timeoutExponent(int exponent) {
        return set(TIMEOUT, I_TIMEOUT, ObjectUtil.checkInRange(exponent, 0, 31, "exponent"));
    }

    /** The number of times to try again before {@link WorkCompletionStatus#RETRY_EXCEEDED_ERROR}, 0 to 7. */
    public QueuePairAttributes retryCount(int count) {
        return set(RETRY_COUNT, I_RETRY_COUNT, ObjectUtil.checkInRange(count, 0, 7, "count"));
    }

    /** The number of retries if the peer has no receive posted, 0 to 6; 7 is infinite. */
    public QueuePairAttributes rnrRetryCount(int count) {
        return set(RNR_RETRY, I_RNR_RETRY, ObjectUtil.checkInRange(count, 0, 7, "count"));
    }

    /** The first packet sequence number that the peer sends, 24 bits. */
    public QueuePairAttributes receivePsn(int psn) {
        return set(RQ_PSN, I_RQ_PSN, ObjectUtil.checkInRange(psn, 0, 0xFFFFFF, "psn"));
    }

    /** The first packet sequence number that we send, 24 bits. */
    public QueuePairAttributes sendPsn(int psn) {
        return set(SQ_PSN, I_SQ_PSN, ObjectUtil.checkInRange(psn, 0, 0xFFFFFF, "psn"));
    }

    /** Maximum number of RDMA reads and atomics that we have outstanding, 0 to 255. */
    public QueuePairAttributes initiatorDepth(int depth) {
        return set(MAX_QP_RD_ATOMIC, I_MAX_QP_RD_ATOMIC, ObjectUtil.checkInRange(depth, 0, 255, "depth"));
    }

    /** Maximum number of RDMA reads and atomics that the peer has outstanding here, 0 to 255. */
    public QueuePairAttributes responderResources(int resources) {
        return set(MAX_DEST_RD_ATOMIC, I_MAX_DEST_RD_ATOMIC, ObjectUtil.checkInRange(resources, 0, 255, "resources"));
    }

    /** Waiting time of a peer that found no receive, as a code of the table in ibv_modify_qp(3): 0 to 31. */
    public QueuePairAttributes minRnrTimer(int code) {
        return set(MIN_RNR_TIMER, I_MIN_RNR_TIMER, ObjectUtil.checkInRange(code, 0, 31, "code"));
    }

    /** The number of the peer's queue pair, 24 bits. */
    public QueuePairAttributes destinationQueuePair(int number) {
        return set(DEST_QPN, I_DEST_QPN, number);
    }

    /** The path to the peer inside one InfiniBand subnet. */
    public QueuePairAttributes path(int localPort, int destinationLid, int serviceLevel) {
        values[I_AV_LID] = ObjectUtil.checkInRange(destinationLid, 0, 0xFFFF, "destinationLid");
        values[I_AV_SERVICE_LEVEL] = ObjectUtil.checkInRange(serviceLevel, 0, 15, "serviceLevel");
        values[I_AV_GLOBAL] = 0;
        return set(AV, I_AV_PORT, ObjectUtil.checkInRange(localPort, 1, 255, "localPort"));
    }

    /** The path to the peer by its global identifier (16 bytes in network order): RoCE, or InfiniBand with routers. */
    public QueuePairAttributes globalPath(int localPort, int localGidIndex, byte[] destinationGid, int hopLimit) {
        if (destinationGid.length != gid.length) {
            throw new IllegalArgumentException("destinationGid: " + destinationGid.length + " bytes (expected: 16)");
        }
        System.arraycopy(destinationGid, 0, gid, 0, gid.length);
        values[I_AV_GID_INDEX] = ObjectUtil.checkInRange(localGidIndex, 0, 255, "localGidIndex");
        values[I_AV_HOP_LIMIT] = ObjectUtil.checkInRange(hopLimit, 0, 255, "hopLimit");
        values[I_AV_GLOBAL] = 1;
        return set(AV, I_AV_PORT, ObjectUtil.checkInRange(localPort, 1, 255, "localPort"));
    }

    /**
     * The traffic class of the global path, 0 to 255: on RoCE v2 the IP type of service of all packets. Default 0; a
     * path inside of a subnet has none.
     */
    public QueuePairAttributes trafficClass(int trafficClass) {
        values[I_AV_TRAFFIC_CLASS] = ObjectUtil.checkInRange(trafficClass, 0, 255, "trafficClass");
        return this;
    }

    /** The service level of the global path, 0 to 15. Default 0. */
    public QueuePairAttributes serviceLevel(int serviceLevel) {
        values[I_AV_SERVICE_LEVEL] = ObjectUtil.checkInRange(serviceLevel, 0, 15, "serviceLevel");
        return this;
    }

    /** The LID where the global path leaves the own InfiniBand subnet or ends in it, 0 to 0xFFFF. Default 0 (RoCE). */
    public QueuePairAttributes destinationLid(int lid) {
        values[I_AV_LID] = ObjectUtil.checkInRange(lid, 0, 0xFFFF, "lid");
        return this;
    }

    private QueuePairAttributes set(int bit, int index, int value) {
        mask |= bit;
        values[index] = value;
        return this;
    }
}
