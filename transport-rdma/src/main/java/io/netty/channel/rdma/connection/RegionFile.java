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
package io.netty.channel.rdma.connection;

import io.netty.channel.DefaultFileRegion;

import java.nio.channels.FileChannel;

/**
 * Fields of a {@link DefaultFileRegion} that have no accessors. Netty's own native transports read the same fields in
 * the same way ({@code netty_epoll_native.c}).
 */
final class RegionFile {
    private RegionFile() {
    }

    /** A class of its own, because the outer class is initialized before its natives are registered. */
    private static final class Fields {
        static final boolean KNOWN = init0(DefaultFileRegion.class);
    }

    /** Returns whether this version of Netty has the fields. */
    static boolean isKnown() {
        return Fields.KNOWN;
    }

    /** The file, {@code null} if it is not {@linkplain DefaultFileRegion#isOpen() open}. */
    static FileChannel channel(DefaultFileRegion region) {
        return (FileChannel) channel0(region);
    }

    /** Sets what {@link DefaultFileRegion#transferred()} returns. */
    static void setTransferred(DefaultFileRegion region, long bytes) {
        setTransferred0(region, bytes);
    }

    private static native boolean init0(Class<?> regions);

    private static native Object channel0(Object region);

    private static native void setTransferred0(Object region, long bytes);
}
