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
package io.netty.channel.rdma.stream;

/**
 * Target SGL of this side: a small table in registered memory. The peer writes the addresses of its receive buffers to
 * it, by RDMA WRITE. One entry is 16 bytes: address (8), rkey (4), length (4), in this host's byte order (the writer
 * converts, like {@code rs_send_credits} in librdmacm).
 * <p>
 * Used by the connection's event loop only; the other writer is the RDMA device.
 */
public interface TargetSgl {
    /** Size of one entry in bytes. */
    int ENTRY_SIZE = 16;

    /** Number of entries, at least 2. */
    int entries();

    /**
     * Returns the unsigned length of a buffer in bytes; 0 if the entry has none. The read must be an acquire read: the
     * length is the last field of an entry, and address and key are read after it.
     */
    int length(int entry);

    /** The remote address of an entry. Plain read. */
    long address(int entry);

    /** The rkey of an entry. Plain read. */
    int key(int entry);

    /** Writes 0 to the length of an entry. */
    void clearLength(int entry);
}
