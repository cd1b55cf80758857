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
package io.netty.channel.rdma;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.Buffer;
import io.netty.util.internal.PlatformDependent;

import java.nio.ByteBuffer;

/**
 * Addresses of direct buffers.
 */
final class DirectMemory {
    private DirectMemory() { }

    /**
     * The address of a buffer's byte 0.
     *
     * @throws UnsatisfiedLinkError if neither {@code sun.misc.Unsafe} nor Netty's native library can tell.
     */
    static long address(ByteBuffer buffer) {
        if (!PlatformDependent.hasDirectByteBufferAddress(buffer)) {
            // Loads the library that the next call is in. Nothing else may have done that yet.
            Epoll.ensureAvailability();
        }
        return Buffer.memoryAddress(buffer);
    }
}
