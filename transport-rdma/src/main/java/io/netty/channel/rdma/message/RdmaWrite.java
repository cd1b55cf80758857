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
 * RDMA WRITE: the readable bytes are written to the peer's memory. The peer is not notified. When the promise is done,
 * the peer's device has the bytes. Its process may see them later, but before all later messages of this channel.
 */
public final class RdmaWrite extends RemoteOperation {
    /**
     * @param data may be empty. The reference is the operation's.
     * @param remote may be {@code null} if there are no bytes; otherwise with {@link RdmaPermission#REMOTE_WRITE}.
     * @param offset in that memory, in bytes.
     */
    public RdmaWrite(ByteBuf data, RemoteMemory remote, long offset) {
        super(data, remote, offset, RdmaPermission.REMOTE_WRITE);
    }

    /**
     * @param local the bytes to write.
     * @param remote with {@link RdmaPermission#REMOTE_WRITE}.
     * @param offset in that memory, in bytes.
     */
    public RdmaWrite(RegisteredSlice local, RemoteMemory remote, long offset) {
        this(List.of(local), remote, offset);
    }

    /**
     * @param local the bytes to write, as many slices as {@code MAX_SEND_SGES}.
     * @param remote with {@link RdmaPermission#REMOTE_WRITE}.
     * @param offset in that memory, in bytes.
     */
    public RdmaWrite(List<RegisteredSlice> local, RemoteMemory remote, long offset) {
        super(local, remote, offset, RdmaPermission.REMOTE_WRITE);
    }

    @Override
    void begin(SendWorkRequests chain, long id, int flags) {
        chain.write(id, flags, address(), key());
    }

    @Override
    RdmaWrite with(ByteBuf content) {
        return new RdmaWrite(content, remote(), offset());
    }

    @Override
    RdmaWrite withLocal() {
        return new RdmaWrite(local(), remote(), offset());
    }
}
