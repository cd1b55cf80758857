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
 * RDMA READ: fills the writable bytes of a buffer from the peer's memory. When the promise is done, the bytes are
 * readable. Reads no more bytes than either side has: {@link #length()} has their number, which may be 0.
 */
public final class RdmaRead extends RemoteOperation {
    /**
     * @param destination its writable bytes, which may be none, are filled. The caller keeps its reference, to get the
     *         result; the operation takes another one.
     * @param remote {@code null} reads nothing; otherwise with {@link RdmaPermission#REMOTE_READ}.
     * @param offset in that memory, in bytes.
     */
    public RdmaRead(ByteBuf destination, RemoteMemory remote, long offset) {
        super(destination.retain(), remote, offset, RdmaPermission.REMOTE_READ);
    }

    /**
     * @param local where the bytes go; memory with {@link RdmaPermission#LOCAL_WRITE}.
     * @param remote with {@link RdmaPermission#REMOTE_READ}.
     * @param offset in that memory, in bytes.
     */
    public RdmaRead(RegisteredSlice local, RemoteMemory remote, long offset) {
        this(List.of(local), remote, offset);
    }

    /**
     * @param local where the bytes go; memory with {@link RdmaPermission#LOCAL_WRITE}, as many slices as {@code
     *         MAX_SEND_SGES} and {@link RdmaCapabilities#maxReadSges()}. With iWARP also {@link
     *         RdmaPermission#REMOTE_WRITE}: {@link RdmaCapabilities#readsNeedRemoteWrite()}.
     * @param remote with {@link RdmaPermission#REMOTE_READ}.
     * @param offset in that memory, in bytes.
     */
    public RdmaRead(List<RegisteredSlice> local, RemoteMemory remote, long offset) {
        super(local, remote, offset, RdmaPermission.REMOTE_READ);
    }

    @Override
    int requested() {
        return limited(super.requested());
    }

    @Override
    int bufferLength() {
        return content().writableBytes();
    }

    @Override
    int index() {
        return content().writerIndex();
    }

    @Override
    RdmaMessageMetrics.Kind kind() {
        return RdmaMessageMetrics.Kind.READ;
    }

    @Override
    void begin(SendWorkRequests chain, long id, int flags) {
        chain.read(id, flags, address(), key());
    }

    @Override
    void completed(int bytes) {
        super.completed(bytes);
        if (!isLocal()) {
            content().writerIndex(content().writerIndex() + bytes);
        }
    }

    @Override
    RdmaRead with(ByteBuf content) {
        RdmaRead copy = new RdmaRead(content, remote(), offset());
        // As with any holder, the reference of the caller becomes that of the copy.
        content.release();
        return copy;
    }

    @Override
    RdmaRead withLocal() {
        return new RdmaRead(local(), remote(), offset());
    }
}
