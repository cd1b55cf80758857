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
 * A fake of CUDA's library (fake_gpu.h), which stays loaded in this JVM, and memory of its processor, whose addresses
 * this process cannot use.
 */
public final class FakeGpu implements AutoCloseable {
    private static final File LIBRARY = new File("../transport-rdma-native/target/c/libsoftware_device.so");
    private static boolean loaded;

    private final long memory;
    private final int size;
    private boolean freed;

    /** Allocates memory of zeroes. */
    public FakeGpu(int size) throws IOException {
        load();
        this.size = size;
        memory = allocate0(size);
        if (memory == 0) {
            throw new IOException("no memory of the fake processor");
        }
    }

    public static synchronized boolean isLoaded() {
        return loaded;
    }

    private static synchronized void load() throws IOException {
        if (!loaded) {
            System.load(LIBRARY.getCanonicalPath());
            if (!load0()) {
                throw new IOException("the fake of CUDA's library cannot be loaded");
            }
            loaded = true;
        }
    }

    /** Number of copies from and to the memory of all objects. */
    public static int copies() {
        return copies0();
    }

    /** Number of dma-bufs that were made of it. */
    public static int exports() throws IOException {
        load();
        return exports0();
    }

    /** The {@code CUdeviceptr}. */
    public long pointer() {
        return memory;
    }

    /** The contents of the memory, as the processor sees them. Not to be used after {@link #free}. */
    public ByteBuffer bytes() {
        return bytes0(memory, size);
    }

    /** Frees the memory, also while it is registered. It has no effect again. */
    public void free() throws IOException {
        if (!freed) {
            freed = true;
            int error = free0(memory);
            if (error != 0) {
                throw new IOException("cuMemFree: " + error);
            }
        }
    }

    @Override
    public void close() throws IOException {
        free();
    }

    private static native boolean load0();
    private static native long allocate0(int size);
    private static native ByteBuffer bytes0(long memory, int size);
    private static native int copies0();
    private static native int exports0();
    private static native int free0(long memory);
}
