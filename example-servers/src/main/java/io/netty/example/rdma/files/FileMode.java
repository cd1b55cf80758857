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
package io.netty.example.rdma.files;

import java.util.Locale;

/**
 * Way of a file's bytes to the transport.
 */
public enum FileMode {
    /**
     * As a {@code FileRegion}: with TCP the kernel sends them without a copy to this process. With TLS they are read
     * piece by piece, because they have to be encrypted.
     */
    REGION,
    /** As buffers that are the file, mapped into memory: it is not opened again while it is in the cache. */
    MAPPED;

    /** As written on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
