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
package io.netty.channel.rdma.ortcp;

/**
 * Transports that a {@link RdmaOrTcpRule} allows for a client's connection, or for a server's listener.
 */
public enum RdmaOrTcpChoice {
    /**
     * A client takes RDMA if it can, else TCP. A server listens for both, and where RDMA is not available for TCP
     * alone. The default.
     */
    RDMA_OR_TCP,

    /**
     * A server listens for TCP, and also for RDMA if it can. Only TCP can fail a bind. If RDMA can't be bound, for
     * example because another listener has the port by {@code SO_REUSEPORT}, the log has the reason. For programs that
     * do not know of RDMA. For a client: {@code RDMA_OR_TCP}.
     */
    RDMA_IF_POSSIBLE,

    /** A server listens for both; its bind fails if RDMA is not available. For a client: {@code RDMA_OR_TCP}. */
    RDMA_AND_TCP,

    /** A client fails if RDMA fails. A server listens for RDMA alone; its bind fails if RDMA is not available. */
    RDMA_ONLY,

    /** RDMA is not tried: a client connects over TCP, a server listens for TCP. */
    TCP_ONLY
}
