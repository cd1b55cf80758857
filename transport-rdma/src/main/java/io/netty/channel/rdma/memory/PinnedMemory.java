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
package io.netty.channel.rdma.memory;

import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.SystemPropertyUtil;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Counts registered memory against a limit, because registered memory is locked, so that the system can't take it back.
 *
 * <p>Necessary memory, such as the first receive buffer of a connection, may use all of it. Optional memory, which only
 * makes transfers faster, such as larger receive buffers, must leave a part free. Otherwise a few busy connections
 * could prevent all other connections. Thread-safe.
 */
public final class PinnedMemory {
    private static final Pattern SIZE = Pattern.compile("([0-9]{1,18})([kmg]?)");
    /** Slabs of the default allocator, staging memory, receive buffers, and registered memory of other buffers. */
    public static final PinnedMemory PROCESS = new PinnedMemory(size(
            "io.netty.rdma.maxPinnedMemory", PlatformDependent.maxDirectMemory() / 2), 8, null);
    /** The least memory for a connection: a slab to send from, and receive memory. */
    private static final long LEAST_MIB = (CellPool.SLAB_SIZE >> 20) + 1;

    private final long max;
    private final long maxOptional;
    private final PinnedMemory parent;
    private final AtomicLong used = new AtomicLong();

    /**
     * @param max    in bytes.
     * @param keep   one part in so many is only for necessary memory; 0 for none.
     * @param parent in which the bytes count too, or {@code null}.
     */
    public PinnedMemory(long max, int keep, PinnedMemory parent) {
        this.max = max;
        this.parent = parent;
        maxOptional = keep == 0 ? max : max - max / keep;
    }

    /**
     * Counts memory that is about to be registered.
     *
     * @return false if this would exceed the limit; then nothing is counted.
     */
    public boolean reserve(long bytes, boolean needed) {
        if (parent != null && !parent.reserve(bytes, needed)) {
            return false;
        }
        if (used.addAndGet(bytes) > (needed ? max : maxOptional)) {
            release(bytes);
            return false;
        }
        return true;
    }

    public void release(long bytes) {
        used.addAndGet(-bytes);
        if (parent != null) {
            parent.release(bytes);
        }
    }

    /** Number of bytes that may be registered for optional memory, which only makes transfers faster. */
    long available() {
        long own = maxOptional - used.get();
        return parent == null ? own : Math.min(own, parent.available());
    }

    /**
     * Creates the exception for a failed reservation.
     *
     * @param what the thing that is missing.
     * @param or another remedy.
     */
    public IOException exhausted(String what, String or) {
        return exception(what, "raise -Dio.netty.rdma.maxPinnedMemory (" + used() + " of at most " + max() +
                " bytes are in use), or " + or);
    }

    /** Creates a shorter exception, which fits into the private data of a rejection. */
    public IOException exhausted(String what) {
        return exception(what, "raise -Dio.netty.rdma.maxPinnedMemory (now " + max() + " bytes)");
    }

    private IOException exception(String what, String advice) {
        return new IOException(what + ": " + (max() >= LEAST_MIB << 20 ? advice : "at least " + LEAST_MIB +
                " MiB are needed, -XX:MaxDirectMemorySize=" + 2 * LEAST_MIB +
                "m or -Dio.netty.rdma.maxPinnedMemory=" + LEAST_MIB + 'm'));
    }

    /**
     * Reads a system property that is a number of bytes, or of KiB, MiB or GiB with the suffix k, m or g, as for
     * options {@code -XX}. Logs a warning for an invalid value.
     */
    static long size(String property, long defaultBytes) {
        String value = SystemPropertyUtil.get(property);
        Matcher matcher = SIZE.matcher(value == null ? "" : value.trim().toLowerCase(Locale.ROOT));
        if (matcher.matches()) {
            int shift = matcher.group(2).isEmpty() ? 0 : 10 + 10 * "kmg".indexOf(matcher.group(2));
            long number = Long.parseLong(matcher.group(1));
            return number > Long.MAX_VALUE >> shift ? Long.MAX_VALUE : number << shift;
        }
        if (value != null) {
            InternalLoggerFactory.getInstance(PinnedMemory.class).warn("-D{}={} is no size (expected: a number of " +
                    "bytes, or with the suffix k, m or g): using {} bytes", property, value, defaultBytes);
        }
        return defaultBytes;
    }

    public long used() {
        return used.get();
    }

    public long max() {
        return max;
    }
}
