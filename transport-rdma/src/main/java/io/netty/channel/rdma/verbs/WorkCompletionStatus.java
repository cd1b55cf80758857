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
 * The status of a work completion ({@code enum ibv_wc_status}; meanings: InfiniBand Architecture Specification vol. 1,
 * 11.6.2 and 10.10.3).
 */
@UnstableApi
public final class WorkCompletionStatus {
    public static final int SUCCESS = 0;
    /** A receive is smaller than the message, or a request is longer than the port's maximum. */
    public static final int LOCAL_LENGTH_ERROR = 1;
    public static final int LOCAL_QP_OPERATION_ERROR = 2;
    public static final int LOCAL_EE_CONTEXT_OPERATION_ERROR = 3;
    /** A scatter-gather element lies outside of the region of its lkey, or the region doesn't allow the access. */
    public static final int LOCAL_PROTECTION_ERROR = 4;
    /** The request was never executed: the queue pair went to the error state before. */
    public static final int WORK_REQUEST_FLUSHED = 5;
    public static final int MEMORY_WINDOW_BIND_ERROR = 6;
    public static final int BAD_RESPONSE_ERROR = 7;
    public static final int LOCAL_ACCESS_ERROR = 8;
    /** The responder refused the request, for example a message longer than its receive. */
    public static final int REMOTE_INVALID_REQUEST_ERROR = 9;
    /** The rkey is wrong, the range is outside of its region, or the region or queue pair forbids the operation. */
    public static final int REMOTE_ACCESS_ERROR = 10;
    public static final int REMOTE_OPERATION_ERROR = 11;
    /** The peer does not answer: it died, or the network is interrupted. */
    public static final int RETRY_EXCEEDED_ERROR = 12;
    /** The peer had no receive posted, for longer than rnr_retry_count allows. */
    public static final int RNR_RETRY_EXCEEDED_ERROR = 13;
    public static final int LOCAL_RDD_VIOLATION_ERROR = 14;
    public static final int REMOTE_INVALID_RD_REQUEST = 15;
    public static final int REMOTE_ABORTED_ERROR = 16;
    public static final int INVALID_EE_CONTEXT_NUMBER = 17;
    public static final int INVALID_EE_CONTEXT_STATE = 18;
    public static final int FATAL_ERROR = 19;
    public static final int RESPONSE_TIMEOUT_ERROR = 20;
    public static final int GENERAL_ERROR = 21;

    /** The names of {@code enum ibv_wc_status}, without {@code IBV_WC_}. */
    private static final String[] CONSTANTS = {
            "SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR", "MW_BIND_ERR",
            "BAD_RESP_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR", "REM_OP_ERR", "RETRY_EXC_ERR",
            "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR", "REM_ABORT_ERR", "INV_EECN_ERR",
            "INV_EEC_STATE_ERR", "FATAL_ERR", "RESP_TIMEOUT_ERR", "GENERAL_ERR", "TM_ERR", "TM_RNDV_INCOMPLETE"
    };
    private static final String[] NAMES = {
            "success",
            "local length error: a message is longer than the device or the receive allows",
            "local queue pair operation error",
            "local EE context operation error",
            "local protection error: a buffer is not in the memory region of its lkey",
            "flushed: the connection failed or was closed before the request was executed",
            "memory window bind error",
            "bad response from the peer",
            "local access error",
            "the peer refused the request as invalid",
            "the peer refused access to its memory",
            "the peer failed to execute the request",
            "the peer does not answer",
            "the peer has no receive posted",
            "local RDD violation",
            "remote invalid RD request",
            "the peer aborted the request",
            "invalid EE context number",
            "invalid EE context state",
            "fatal transport error",
            "response timeout",
            "general error"
    };

    private WorkCompletionStatus() { }

    /** The constant of {@code enum ibv_wc_status}, without {@code IBV_WC_}. */
    public static String name(int status) {
        return status >= 0 && status < CONSTANTS.length ? CONSTANTS[status] : "STATUS_" + status;
    }

    /** The meaning of a status, for a person. */
    public static String describe(int status) {
        return status >= 0 && status < NAMES.length ? NAMES[status] : "unknown status " + status;
    }
}
