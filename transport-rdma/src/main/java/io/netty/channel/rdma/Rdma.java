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
import io.netty.channel.rdma.memory.CellPool;
import io.netty.channel.rdma.verbs.LockedMemory;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.util.internal.PlatformDependent;

import java.io.IOException;

/**
 * Tells whether the RDMA transport can be used, and if not, why. The transport needs an RDMA verbs provider (see {@link
 * VerbsApi}) and Netty's native epoll transport, on which its event loops are built.
 */
public final class Rdma {
    private static final Throwable UNAVAILABILITY_CAUSE = unavailability();

    private Rdma() { }

    private static Throwable unavailability() {
        // Checked first, because with wrong versions of Netty each further call may fail to link.
        String problem = NettyVersion.problem();
        if (problem != null) {
            return new UnsupportedOperationException(problem);
        }
        if (!VerbsApi.isAvailable()) {
            return VerbsApi.unavailabilityCause();
        }
        if (VerbsApi.preferred().provider() == VerbsProvider.IBVERBS) {
            IOException tooLittle = LockedMemory.probe(CellPool.SLAB_SIZE);
            if (tooLittle != null) {
                return tooLittle;
            }
        }
        if (!Epoll.isAvailable()) {
            String missing = Rdma.class.getModule().isNamed() ? "require the module io.netty.transport.epoll.linux." +
                    PlatformDependent.normalizedArch() + ", or name it with --add-modules" :
                    "add netty-transport-native-epoll with the classifier of this platform to the class path";
            return new UnsatisfiedLinkError("the RDMA transport needs Netty's epoll transport: " + missing + " (" +
                    Epoll.unavailabilityCause() + ')').initCause(Epoll.unavailabilityCause());
        }
        return null;
    }

    /** Returns {@code true} if the transport can be used. */
    public static boolean isAvailable() {
        return UNAVAILABILITY_CAUSE == null;
    }

    /**
     * Ensures that the transport can be used.
     *
     * @throws UnsatisfiedLinkError that says what is missing and how to get it.
     */
    public static void ensureAvailability() {
        if (UNAVAILABILITY_CAUSE != null) {
            throw (Error) new UnsatisfiedLinkError("the RDMA transport is not available: " +
                    UNAVAILABILITY_CAUSE.getMessage()).initCause(UNAVAILABILITY_CAUSE);
        }
    }

    /** Returns why the transport can't be used, or {@code null} if it can. */
    public static Throwable unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
    }
}
