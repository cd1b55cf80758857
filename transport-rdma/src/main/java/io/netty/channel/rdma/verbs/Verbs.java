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

import java.util.Locale;

/**
 * Whether verbs can be used in this process, and who provides them.
 * <p>
 * The provider is chosen once, when this class is initialised, from the system property
 * {@code io.netty.rdma.provider}:
 * <ul>
 * <li>{@code auto} (default): {@link VerbsProvider#IBVERBS} where libibverbs and librdmacm can be loaded and there is
 * an RDMA device, else {@link VerbsProvider#EMBEDDED}; a device that can't be used is an error that says why, as the
 * embedded provider reaches no other host;</li>
 * <li>{@code ibverbs}, {@code embedded}: that one or none.</li>
 * </ul>
 * {@code -Dio.netty.transport.noNative=true} disables native transports altogether, as in the rest of Netty.
 */
public final class Verbs {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(Verbs.class);
    private static final String PROPERTY = "io.netty.rdma.provider";

    /** Written once, by the static initialiser. */
    private static String choice;
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
                logger.debug("Verbs provider: {} ({})", provider, choice);
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
     * Why this provider was chosen, for a person.
     *
     * @throws UnsatisfiedLinkError if there is none.
     */
    public static String choice() {
        ensureAvailability();
        return choice;
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
            Module module = Verbs.class.getModule();
            String missing = module.isNamed() ? "require the module " + module.getName() + ".linux." +
                    PlatformDependent.normalizedArch() + ", or name it with --add-modules" :
                    "add netty-transport-native-rdma with the classifier of this platform to the class path";
            throw (Error) new UnsatisfiedLinkError("cannot load " + name + ": " + missing + " (" + e.getMessage() +
                    ')').initCause(e);
        }
    }

    private static VerbsProvider select(String value) {
        String property = "-D" + PROPERTY + '=' + value;
        switch (value.trim().toLowerCase(Locale.ROOT)) {
        case "ibverbs":
            choice = property;
            return require(VerbsProvider.IBVERBS, selectProvider0(VerbsProvider.IBVERBS.ordinal()));
        case "embedded":
            choice = property;
            return require(VerbsProvider.EMBEDDED, selectProvider0(VerbsProvider.EMBEDDED.ordinal()));
        case "auto":
            String reason = selectProvider0(VerbsProvider.IBVERBS.ordinal());
            if (reason == null && ProviderCheck.hasDevice()) {
                // A device that can't be used is a mistake to be told: the embedded provider reaches no other host.
                choice = "automatic choice: there is an RDMA device";
                return require(VerbsProvider.IBVERBS, null);
            }
            choice = "automatic choice: " + (reason == null ? ProviderCheck.ibverbs() : reason);
            return require(VerbsProvider.EMBEDDED, selectProvider0(VerbsProvider.EMBEDDED.ordinal()));
        default:
            throw new IllegalArgumentException("system property " + PROPERTY + '=' + value +
                    ": expected auto, ibverbs or embedded");
        }
    }

    /**
     * @param reason why the provider could not be selected, or {@code null}.
     */
    private static VerbsProvider require(VerbsProvider provider, String reason) {
        boolean isEmbedded = provider == VerbsProvider.EMBEDDED;
        if (reason == null) {
            reason = isEmbedded ? ProviderCheck.embedded() : ProviderCheck.ibverbs();
        }
        if (reason != null) {
            throw new UnsatisfiedLinkError("verbs provider " + provider.name().toLowerCase(Locale.ROOT) + ": " +
                    reason + (isEmbedded ? "" : ". Or use the embedded provider, which reaches processes of the same " +
                    "user on this host alone (-D" + PROPERTY + "=embedded)"));
        }
        return provider;
    }

    /**
     * Fills the process-wide function table. Returns {@code null} or the reason why that is impossible.
     */
    private static native String selectProvider0(int provider);
}
