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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBuf;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.verbs.SendWorkRequests;

import java.util.List;

/**
 * RDMA WRITE WITH IMMEDIATE: as {@link RdmaWrite}, and then the peer gets a {@link RdmaReceive} without bytes, with the
 * length and 32 bits. The operation consumes a receive of the peer.
 */
public final class RdmaWriteImm extends RemoteOperation {
    private int immediate;

    /**
     * @param data may be empty. The reference is the operation's.
     * @param remote may be {@code null} if there are no bytes; otherwise with {@link RdmaPermission#REMOTE_WRITE}.
     * @param offset in that memory, in bytes.
     * @param immediate goes over the wire in network order.
     */
    public RdmaWriteImm(ByteBuf data, RemoteMemory remote, long offset, int immediate) {
        super(data, remote, offset, RdmaPermission.REMOTE_WRITE);
        this.immediate = immediate;
    }

    /**
     * @param local the bytes to write.
     * @param remote with {@link RdmaPermission#REMOTE_WRITE}.
     * @param offset in that memory, in bytes.
     * @param immediate goes over the wire in network order.
     */
    public RdmaWriteImm(RegisteredSlice local, RemoteMemory remote, long offset, int immediate) {
        this(List.of(local), remote, offset, immediate);
    }

    /**
     * @param local the bytes to write, as many slices as {@code MAX_SEND_SGES}.
     * @param remote with {@link RdmaPermission#REMOTE_WRITE}.
     * @param offset in that memory, in bytes.
     * @param immediate goes over the wire in network order.
     */
    public RdmaWriteImm(List<RegisteredSlice> local, RemoteMemory remote, long offset, int immediate) {
        super(local, remote, offset, RdmaPermission.REMOTE_WRITE);
        this.immediate = immediate;
    }

    public int immediate() {
        return immediate;
    }

    /**
     * Sets the 32 bits for the next write of the operation.
     *
     * @throws IllegalStateException if the operation is in flight.
     */
    public RdmaWriteImm immediate(int newImmediate) {
        change();
        immediate = newImmediate;
        return this;
    }

    @Override
    void begin(SendWorkRequests chain, long id, int flags) {
        chain.writeWithImmediate(id, flags, address(), key(), immediate);
    }

    @Override
    RdmaWriteImm with(ByteBuf content) {
        return new RdmaWriteImm(content, remote(), offset(), immediate);
    }

    @Override
    RdmaWriteImm withLocal() {
        return new RdmaWriteImm(local(), remote(), offset(), immediate);
    }
}
