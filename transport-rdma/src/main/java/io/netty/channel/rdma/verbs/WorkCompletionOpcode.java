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
 * The operation that a successful work completion completes ({@code enum ibv_wc_opcode}). Undefined if the status is
 * not {@link WorkCompletionStatus#SUCCESS} (ibv_poll_cq(3)).
 */
@UnstableApi
public final class WorkCompletionOpcode {
    public static final int SEND = 0;
    public static final int RDMA_WRITE = 1;
    public static final int RDMA_READ = 2;
    public static final int COMPARE_AND_SWAP = 3;
    public static final int FETCH_AND_ADD = 4;
    public static final int BIND_MEMORY_WINDOW = 5;
    public static final int LOCAL_INVALIDATE = 6;
    /** A receive consumed by a send. */
    public static final int RECEIVE = 128;
    /** A receive consumed by an RDMA write with immediate data. */
    public static final int RECEIVE_RDMA_WITH_IMMEDIATE = 129;

    private WorkCompletionOpcode() { }

    /** The name of an opcode, for a person. */
    public static String describe(int opcode) {
        return switch (opcode) {
        case SEND -> "send";
        case RDMA_WRITE -> "RDMA write";
        case RDMA_READ -> "RDMA read";
        case COMPARE_AND_SWAP -> "compare and swap";
        case FETCH_AND_ADD -> "fetch and add";
        case BIND_MEMORY_WINDOW -> "bind of a memory window";
        case LOCAL_INVALIDATE -> "local invalidate";
        case RECEIVE -> "receive";
        case RECEIVE_RDMA_WITH_IMMEDIATE -> "receive of RDMA write with immediate";
        default -> "opcode " + opcode;
        };
    }
}
