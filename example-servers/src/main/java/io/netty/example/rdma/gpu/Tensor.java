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
package io.netty.example.rdma.gpu;

import io.netty.buffer.ByteBuf;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.example.rdma.util.Pattern;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;

/**
 * A block of bytes in memory of a graphics processor, or of the host. CUDA's copies write and check its contents, never
 * those of an RDMA device.
 */
final class Tensor implements AutoCloseable {
    private static final Set<RdmaPermission> PERMISSIONS =
            EnumSet.of(RdmaPermission.LOCAL_WRITE, RdmaPermission.REMOTE_READ, RdmaPermission.REMOTE_WRITE);

    /** CUDA, or {@code null} if the memory is the host's. */
    private final Cuda cuda;
    private final long pointer;
    /** Memory of the host: the tensor itself, or the buffer for copies to and from it. */
    private final ByteBuf host;
    private final RegisteredMemory registered;

    /** @param cuda {@code null} for memory of the host */
    Tensor(Cuda cuda, int size) throws IOException {
        this.cuda = cuda;
        host = RdmaByteBufAllocator.DEFAULT.directBuffer(size, size).setZero(0, size);
        pointer = cuda == null ? 0 : cuda.allocate(size);
        registered = cuda == null ? RegisteredMemory.of(host, PERMISSIONS)
                : RegisteredMemory.ofCuda(pointer, size, PERMISSIONS);
    }

    int size() {
        return host.capacity();
    }

    RegisteredMemory registered() {
        return registered;
    }

    /** Returns the whole tensor, for an operation. */
    RegisteredSlice slice() {
        return registered.slice(0, size());
    }

    /** Writes the bytes of a round. */
    void fill(long round) throws IOException {
        Pattern.write(host.clear(), round, size());
        load(host);
    }

    /** Returns whether the tensor has the bytes of a round. */
    boolean matches(long round) throws IOException {
        return Pattern.matches(store().setIndex(0, size()), round);
    }

    void clear() throws IOException {
        if (cuda == null) {
            host.setZero(0, size());
        } else {
            cuda.clear(pointer, size());
        }
    }

    /** Copies bytes of the host into the tensor. */
    void load(ByteBuf from) throws IOException {
        if (cuda != null) {
            cuda.copyIn(pointer, from);
        }
    }

    /** Copies the tensor to the host. Each call returns the same buffer. */
    ByteBuf store() throws IOException {
        if (cuda != null) {
            cuda.copyOut(host, pointer);
        }
        return host;
    }

    /** Deregisters and frees the memory. No operation may use it any more. */
    @Override
    public void close() throws IOException {
        registered.close();
        if (cuda != null) {
            cuda.free(pointer);
        }
        host.release();
    }
}
