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

import io.netty.util.internal.NativeLibraryLoader;
import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.SystemPropertyUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.List;
import java.util.Locale;

/**
 * Whether verbs can be used in this process, and who provides them.
 * <p>
 * The provider is chosen once, when this class is initialised, from the system property
 * {@code io.netty.rdma.provider}:
 * <ul>
 * <li>{@code auto} (default): {@link VerbsProvider#IBVERBS} where libibverbs and librdmacm can be loaded and there is
 * an RDMA device, else {@link VerbsProvider#EMBEDDED};</li>
 * <li>{@code ibverbs}, {@code embedded}: that one or none.</li>
 * </ul>
 * {@code -Dio.netty.transport.noNative=true} disables native transports altogether, as in the rest of Netty.
 */
public final class Verbs {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(Verbs.class);
    private static final String PROPERTY = "io.netty.rdma.provider";

    private static final VerbsProvider PROVIDER;
    private static final Throwable UNAVAILABILITY_CAUSE;

    static {
        VerbsProvider provider = null;
        Throwable cause = null;
        if (SystemPropertyUtil.getBoolean("io.netty.transport.noNative", false)) {
            cause = new UnsupportedOperationException(
                    "native transports are disabled by -Dio.netty.transport.noNative=true");
        } else {
            try {
                load();
                NativeMemory.checkLayout();
                provider = select(SystemPropertyUtil.get(PROPERTY, "auto"));
                logger.debug("Verbs provider: {}", provider);
            } catch (Throwable t) {
                cause = t;
                logger.debug("Verbs are unavailable", t);
            }
        }
        PROVIDER = provider;
        UNAVAILABILITY_CAUSE = cause;
    }

    private Verbs() { }

    /**
     * Whether there is a provider. Any thread.
     */
    public static boolean isAvailable() {
        return UNAVAILABILITY_CAUSE == null;
    }

    /**
     * Why there is none: which library, device or permission is missing and what to do about it.
     *
     * @return {@code null} if {@link #isAvailable()}.
     */
    public static Throwable unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
    }

    /**
     * @throws UnsatisfiedLinkError with {@link #unavailabilityCause()} if there is no provider.
     */
    public static void ensureAvailability() {
        if (UNAVAILABILITY_CAUSE != null) {
            throw (Error) new UnsatisfiedLinkError("RDMA verbs are not available: " + UNAVAILABILITY_CAUSE.getMessage())
                    .initCause(UNAVAILABILITY_CAUSE);
        }
    }

    /**
     * Who provides the verbs.
     *
     * @throws UnsatisfiedLinkError if nobody does.
     */
    public static VerbsProvider provider() {
        ensureAvailability();
        return PROVIDER;
    }

    /**
     * A report for people, of several lines: provider, devices with their ports and limits, live native objects.
     */
    public static String diagnostics() {
        StringBuilder text = new StringBuilder(512);
        if (!isAvailable()) {
            return text.append("RDMA verbs are not available: ").append(UNAVAILABILITY_CAUSE.getMessage()).toString();
        }
        text.append("provider ").append(PROVIDER.name().toLowerCase(Locale.ROOT));
        try {
            List<String> names = Device.names();
            text.append(", ").append(names.size()).append(" device(s)");
            for (String name : names) {
                describe(name, text);
            }
        } catch (VerbsException e) {
            text.append('\n').append(e.getMessage());
        }
        text.append("\nlive objects:");
        for (VerbsResource resource : VerbsResource.values()) {
            text.append(' ').append(resource).append(' ').append(resource.live()).append(';');
        }
        return text.toString();
    }

    private static void describe(String name, StringBuilder text) {
        text.append("\ndevice ").append(name);
        try (Device device = Device.open(name)) {
            DeviceAttributes attributes = device.attributes();
            text.append(": ").append(attributes);
            for (int port = 1; port <= attributes.portCount(); port++) {
                text.append("\n  port ").append(port).append(": ").append(device.portAttributes(port));
            }
        } catch (VerbsException e) {
            text.append(": ").append(e.getMessage());
        }
    }

    private static void load() {
        if (!PlatformDependent.normalizedOs().equals("linux")) {
            throw new UnsupportedOperationException(
                    "RDMA verbs need Linux, this is " + PlatformDependent.normalizedOs());
        }
        // Loading initialises every class that has natives (JNI_OnLoad finds them). None of these may touch this class
        // in its static initialiser: two threads could then wait for each other, as in Netty issues 10187 and 11209.
        String name = "netty_transport_native_rdma_" + PlatformDependent.normalizedArch();
        try {
            NativeLibraryLoader.load(name, PlatformDependent.getClassLoader(Verbs.class));
        } catch (UnsatisfiedLinkError e) {
            throw (Error) new UnsatisfiedLinkError("cannot load " + name + ": add netty-transport-native-rdma with " +
                    "the classifier of this platform to the class path (" + e.getMessage() + ')').initCause(e);
        }
    }

    private static VerbsProvider select(String value) {
        switch (value.trim().toLowerCase(Locale.ROOT)) {
        case "ibverbs":
            return select(VerbsProvider.IBVERBS);
        case "embedded":
            return select(VerbsProvider.EMBEDDED);
        case "auto":
            if (selectProvider0(VerbsProvider.IBVERBS.ordinal()) == null && deviceCount0() > 0) {
                checkUsable(VerbsProvider.IBVERBS);
                return VerbsProvider.IBVERBS;
            }
            return select(VerbsProvider.EMBEDDED);
        default:
            throw new IllegalArgumentException("system property " + PROPERTY + '=' + value +
                    ": expected auto, ibverbs or embedded");
        }
    }

    private static VerbsProvider select(VerbsProvider provider) {
        String reason = selectProvider0(provider.ordinal());
        if (reason != null) {
            throw new UnsatisfiedLinkError(
                    "verbs provider " + provider.name().toLowerCase(Locale.ROOT) + ": " + reason);
        }
        checkUsable(provider);
        return provider;
    }

    /**
     * Libraries that load say nothing about the kernel side: find out now, not at the first connection.
     */
    private static void checkUsable(VerbsProvider provider) {
        int devices = deviceCount0();
        int errno = devices > 0 ? probeConnectionManager0() : -devices;
        if (devices > 0 && errno == 0) {
            return;
        }
        String reason = errno == 0 ? "" : ": " + NativeMemory.errorText(errno) + " (errno " + errno + ')';
        if (provider == VerbsProvider.EMBEDDED) {
            throw new IllegalStateException("the embedded verbs provider cannot start" + reason);
        }
        String embedded = ", or use the embedded provider (-D" + PROPERTY + "=embedded)";
        if (devices <= 0) {
            throw new IllegalStateException("no RDMA device" + reason + "; load the driver of the network adapter," +
                    " or soft-RoCE (modprobe rdma_rxe; rdma link add rxe0 type rxe netdev <interface>)" + embedded);
        }
        throw new IllegalStateException("there is an RDMA device but no RDMA connection manager" + reason +
                "; load it (modprobe rdma_ucm) and give this user access to /dev/infiniband/rdma_cm and " +
                "/dev/infiniband/uverbs*" + embedded);
    }

    /**
     * Fills the process-wide function table. Returns {@code null} or the reason why that is impossible.
     */
    private static native String selectProvider0(int provider);

    /** The number of devices, or a negative errno. */
    private static native int deviceCount0();

    /** Makes and destroys an event channel. Returns 0 or a positive errno. */
    private static native int probeConnectionManager0();
}
