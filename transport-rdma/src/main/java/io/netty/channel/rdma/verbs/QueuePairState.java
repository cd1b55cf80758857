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
 * The state of a queue pair ({@code enum ibv_qp_state}, in its order; ibv_modify_qp(3)).
 */
public enum QueuePairState {
    RESET,
    INIT,
    /** Ready to receive. */
    RTR,
    /** Ready to send. */
    RTS,
    /** Send queue drained. */
    SQD,
    /** Send queue error. */
    SQE,
    /** All outstanding and later work requests complete as flushed. */
    ERROR;

    private static final QueuePairState[] VALUES = values();

    static QueuePairState of(int value) {
        if (value < 0 || value >= VALUES.length) {
            throw new IllegalStateException("unknown queue pair state " + value);
        }
        return VALUES[value];
    }
}
