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

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A device in software whose memory operations use by a client of the embedded provider (docs/peer-memory.md), as that
 * of a graphics processor. This process cannot use the addresses of the memory; the bytes are elsewhere. One at a time.
 */
public final class SoftwareDevice implements AutoCloseable {
    private static final File LIBRARY = new File("../transport-rdma-native/target/c/libsoftware_device.so");

    /** Registers the device. The native library of the transport is loaded. */
    public SoftwareDevice() throws IOException {
        System.load(LIBRARY.getCanonicalPath());
        check(start0());
    }

    /** @param size in bytes. */
    public Memory allocate(int size) {
        return new Memory(allocate0(size));
    }

    /** The number of copies from memory of another process's device. */
    public int directCopies() {
        return between0();
    }

    /** Removes the device, and all of its memory from the provider. */
    @Override
    public void close() throws IOException {
        check(stop0());
    }

    private static void check(int error) throws IOException {
        if (error != 0) {
            throw new IOException("software device: " + error);
        }
    }

    /** Memory of the device. */
    public static final class Memory implements AutoCloseable {
        private final long memory;
        private boolean freed;

        Memory(long memory) {
            this.memory = memory;
        }

        public long address() {
            return address0(memory);
        }

        /** A descriptor of the memory, which cannot be mapped. */
        public int fd() {
            return descriptor0(memory);
        }

        /** The contents of the memory, as the device sees them. Not to be used after {@link #free}. */
        public ByteBuffer bytes() {
            return bytes0(memory);
        }

        /** Frees the memory, also while it is registered. It has no effect again. */
        public void free() {
            if (!freed) {
                freed = true;
                free0(memory);
            }
        }

        @Override
        public void close() {
            free();
        }
    }

    private static native int start0();
    private static native int stop0();
    private static native int between0();
    private static native long allocate0(int size);
    private static native long address0(long memory);
    private static native int descriptor0(long memory);
    private static native ByteBuffer bytes0(long memory);
    private static native void free0(long memory);
}
