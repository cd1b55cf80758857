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
package io.netty.channel.rdma.verbs;

import io.netty.util.internal.CleanableDirectBuffer;
import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.UnstableApi;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Limit of the memory that this process may register. The kernel counts registered memory against the limit of locked
 * memory ({@code RLIMIT_MEMLOCK}, getrlimit(2)) unless the process has {@code CAP_IPC_LOCK}; the embedded provider
 * needs none. Any thread.
 */
@UnstableApi
public final class LockedMemory {
    private static final int CAP_IPC_LOCK = 14;

    private LockedMemory() { }

    /**
     * The limit in bytes.
     *
     * @return {@link Long#MAX_VALUE} if there is none, or it is not known.
     */
    public static long limit() {
        // The line is like: Max locked memory         8388608              8388608              bytes;
        // proc_pid_limits(5)
        return number(value("/proc/self/limits", "Max locked memory"), 10, Long.MAX_VALUE);
    }

    /** Returns whether the limit does not apply to this process. */
    public static boolean isUnlimited() {
        return limit() == Long.MAX_VALUE || isInitialUserNamespace() &&
                (number(value("/proc/self/status", "CapEff:"), 16, 0) >>> CAP_IPC_LOCK & 1) != 0;
    }

    /**
     * Returns whether the process is in the initial user namespace. In another one, as in a container without root, the
     * capability does not count: the kernel checks it in the initial namespace ({@code ib_umem_get()} of
     * drivers/infiniband/core/umem.c: {@code capable()}, capabilities(7)).
     */
    private static boolean isInitialUserNamespace() {
        try {
            // True if all user ids are mapped to themselves: user_namespaces(7).
            return Files.readString(Path.of("/proc/self/uid_map")).trim().matches("0\\s+0\\s+4294967295");
        } catch (IOException e) {
            // A kernel without user namespaces.
            return true;
        }
    }

    /** The bytes that this process has registered with kernel verbs now. */
    public static long pinned() {
        return number(value("/proc/self/status", "VmPin:"), 10, 0) << 10;
    }

    /** The limit, for a person. */
    public static String describe() {
        long limit = limit();
        return (limit == Long.MAX_VALUE ? "unlimited" : limit + " bytes") +
                (limit != Long.MAX_VALUE && isUnlimited() ? ", which CAP_IPC_LOCK overrides" : "");
    }

    /** Returns advice for a failed registration of memory. */
    static String hint() {
        return isUnlimited() ?
                "this process may lock any amount, so the device or the host has none left: ask for less" :
                "this process may lock " + limit() + " bytes (RLIMIT_MEMLOCK) and has locked " + pinned() +
                        ": raise the limit (ulimit -l unlimited, systemd: LimitMEMLOCK=infinity, docker: " +
                        "--ulimit memlock=-1) or ask for less";
    }

    /**
     * Tries to register so many bytes, unless the limit is clearly high enough.
     *
     * @return the cause of the failure, or {@code null}.
     */
    public static IOException probe(int bytes) {
        if (isUnlimited() || limit() >= 2L * bytes) {
            return null;
        }
        CleanableDirectBuffer memory = PlatformDependent.allocateDirect(bytes);
        try (Device device = Device.open(Device.names().get(0));
             ProtectionDomain domain = device.allocateProtectionDomain()) {
            domain.register(memory.buffer(), AccessFlags.LOCAL_WRITE).close();
            return null;
        } catch (VerbsException e) {
            return e;
        } finally {
            memory.clean();
        }
    }

    private static long number(String text, int radix, long otherwise) {
        try {
            return text == null ? otherwise : Long.parseUnsignedLong(text, radix);
        } catch (NumberFormatException e) {
            // The text may be "unlimited", for example.
            return otherwise;
        }
    }

    /** The word behind the key, or {@code null}. */
    private static String value(String file, String key) {
        try {
            List<String> lines = Files.readAllLines(Path.of(file), StandardCharsets.ISO_8859_1);
            for (String line : lines) {
                if (line.startsWith(key)) {
                    return line.substring(key.length()).trim().split("\\s+")[0];
                }
            }
        } catch (IOException e) {
            // There is no /proc, so the value is unknown.
        }
        return null;
    }
}
