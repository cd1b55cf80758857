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
import io.netty.util.internal.ObjectUtil;
import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.SystemPropertyUtil;
import io.netty.util.internal.UnstableApi;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.File;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The calls of a provider of verbs: its function table ({@code struct verbs_api} in C). Also the providers of this
 * process. Both providers can be used at the same time, but objects of one can't be used with objects of the other.
 * {@link VerbsObject#verbs()} returns the provider of an object.
 * <p>
 * When this class is initialised, the system property {@code io.netty.rdma.provider} selects the providers that
 * channels use:
 * <ul>
 * <li>{@code auto} (default): {@link VerbsProvider#EMBEDDED} to peers on this host and, where libibverbs and librdmacm
 *     can be loaded and there is an RDMA device, {@link VerbsProvider#IBVERBS} to all others; a device that can't be
 *     used is an error with a reason, because the embedded provider reaches no other host;</li>
 * <li>{@code ibverbs}, {@code embedded}: this provider or none.</li>
 * </ul>
 * These properties select the processes that the embedded provider reaches, at the same time:
 * <ul>
 * <li>{@code io.netty.rdma.embedded.folder}: a folder that containers of this host share. Processes that use the same
 *     folder reach each other, also from different network namespaces. Default none: processes of this network
 *     namespace reach each other.</li>
 * <li>{@code io.netty.rdma.embedded.users}, {@code io.netty.rdma.embedded.groups}: users and groups that may be reached
 *     through the folder, beside this user; names or numbers, separated by commas.</li>
 * </ul>
 * Properties that are not set are taken from the environment: {@code RDMA_EMBEDDED_FOLDER}, {@code RDMA_EMBEDDED_USERS}
 * and {@code RDMA_EMBEDDED_GROUPS}. A wrong setting makes the provider, and so verbs, unavailable.
 * <p>
 * {@code -Dio.netty.transport.noNative=true} disables native transports altogether, as in the rest of Netty.
 */
@UnstableApi
public final class VerbsApi {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(VerbsApi.class);
    private static final String PROPERTY = "io.netty.rdma.provider";
    private static final String FOLDER = "io.netty.rdma.embedded.folder";

    /** The providers that could be used when they were first asked for. */
    private static final Map<VerbsProvider, VerbsApi> PROVIDERS = new EnumMap<>(VerbsProvider.class);
    /** The reason of the choice, written once, by the static initialiser. */
    private static String choice;
    private static final VerbsApi PREFERRED;
    /** Nearest first. */
    private static final List<VerbsApi> USABLE;
    private static final boolean LOADED;
    private static final Throwable UNAVAILABILITY_CAUSE;

    private final VerbsProvider provider;
    private final long api;

    static {
        VerbsApi preferred = null;
        List<VerbsApi> usable = Collections.emptyList();
        Throwable cause = null;
        boolean loaded = false;
        if (SystemPropertyUtil.getBoolean("io.netty.transport.noNative", false)) {
            cause = new UnsupportedOperationException(
                    "native transports are disabled by -Dio.netty.transport.noNative=true");
        } else {
            try {
                load();
                NativeVersion.check();
                NativeMemory.checkLayout();
                configureEmbedded();
                loaded = true;
                usable = select(SystemPropertyUtil.get(PROPERTY, "auto"));
                preferred = usable.get(usable.size() - 1);
                logger.debug("Verbs provider: {} ({})", preferred, choice);
            } catch (Throwable t) {
                cause = t;
                logger.debug("Verbs are unavailable", t);
            }
        }
        PREFERRED = preferred;
        USABLE = usable;
        LOADED = loaded;
        UNAVAILABILITY_CAUSE = cause;
    }

    private VerbsApi(VerbsProvider provider, long api) {
        this.provider = provider;
        this.api = api;
    }

    /** Returns whether this process has a provider. Any thread. */
    public static boolean isAvailable() {
        return UNAVAILABILITY_CAUSE == null;
    }

    /**
     * Returns the reason why there is no provider: the missing library, device or permission, and the remedy.
     *
     * @return {@code null} if {@link #isAvailable()}.
     */
    public static Throwable unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
    }

    /** @throws UnsatisfiedLinkError with {@link #unavailabilityCause()} if there is no provider. */
    public static void ensureAvailability() {
        if (UNAVAILABILITY_CAUSE != null) {
            throw (Error) new UnsatisfiedLinkError("RDMA verbs are not available: " + UNAVAILABILITY_CAUSE.getMessage())
                    .initCause(UNAVAILABILITY_CAUSE);
        }
    }

    /**
     * Returns the providers that channels of this process use, the nearest to peers on this host first. A listener uses
     * all that serve its address, a connect the first one that leads to the peer. Any thread.
     *
     * @return one or two.
     * @throws UnsatisfiedLinkError with {@link #unavailabilityCause()} if there is no provider.
     */
    public static List<VerbsApi> usable() {
        ensureAvailability();
        return USABLE;
    }

    /**
     * Returns the furthest reaching provider of {@link #usable()}, which calls without a provider use. Any thread.
     *
     * @throws UnsatisfiedLinkError with {@link #unavailabilityCause()} if there is no provider.
     */
    public static VerbsApi preferred() {
        ensureAvailability();
        return PREFERRED;
    }

    /**
     * Returns a given provider, preferred or not. Any thread.
     *
     * @return always the same object.
     * @throws UnsatisfiedLinkError if it can't be used at present. The message has the missing library, device or
     *         permission, and the remedy. The next call checks again.
     */
    public static VerbsApi of(VerbsProvider provider) {
        ObjectUtil.checkNotNull(provider, "provider");
        if (!LOADED) {
            ensureAvailability();
        }
        return require(provider);
    }

    /** The kind of this provider. */
    public VerbsProvider provider() {
        return provider;
    }

    /** The address of the provider's function table. */
    long api() {
        return api;
    }

    @Override
    public String toString() {
        return name(provider);
    }

    /**
     * Returns the reason for the choice of {@link #preferred()}, for a person.
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
        // Loading initialises every class that has native methods (JNI_OnLoad finds them). Their static initialisers
        // must not use this class: two threads could then wait for each other, as in Netty issues 10187 and 11209.
        String name = "netty_transport_native_rdma_" + PlatformDependent.normalizedArch();
        try {
            NativeLibraryLoader.load(name, PlatformDependent.getClassLoader(VerbsApi.class));
        } catch (UnsatisfiedLinkError e) {
            String found = loadFailure(name, e);
            if (found != null) {
                throw (Error) new UnsatisfiedLinkError(found).initCause(e);
            }
            Module module = VerbsApi.class.getModule();
            String missing = module.isNamed() ? "require the module " + module.getName() + ".linux." +
                    PlatformDependent.normalizedArch() + ", or name it with --add-modules" :
                    "add netty-transport-native-rdma with the classifier of this platform to the class path";
            throw (Error) new UnsatisfiedLinkError("cannot load " + name + ": " + missing + " (" + e.getMessage() +
                    ')').initCause(e);
        }
    }

    /**
     * Returns the reason why an existing library can't be loaded, for a person.
     *
     * @param name without prefix and suffix.
     * @param e    the exception of Netty's loader.
     * @return {@code null} if the library is not there.
     */
    private static String loadFailure(String name, Throwable e) {
        ClassLoader loader = PlatformDependent.getClassLoader(VerbsApi.class);
        String file = "META-INF/native/lib" + name + ".so";
        if ((loader == null ? ClassLoader.getSystemResource(file) : loader.getResource(file)) == null) {
            return null;
        }
        Throwable deepest = e;
        while (deepest.getCause() != null) {
            deepest = deepest.getCause();
        }
        return "cannot load " + name + ", which is copied from its jar to the temporary folder: " +
                deepest + ". -Dio.netty.native.workdir names another folder, which needs " +
                "room, and a file system that lets programs run";
    }

    private static void configureEmbedded() {
        int errno = configureEmbedded0(SystemPropertyUtil.get(FOLDER),
                SystemPropertyUtil.get("io.netty.rdma.embedded.users"),
                SystemPropertyUtil.get("io.netty.rdma.embedded.groups"));
        if (errno != 0) {
            throw new IllegalArgumentException("settings of the embedded provider: " + NativeMemory.errorText(errno));
        }
    }

    /**
     * Description of the processes that the embedded provider reaches: its folder, users and groups. Any thread.
     *
     * @throws UnsatisfiedLinkError with {@link #unavailabilityCause()} if there is no provider.
     */
    public static String embeddedReach() {
        ensureAvailability();
        return describeEmbedded0();
    }

    /**
     * Returns the names of the present peer memory clients (docs/peer-memory.md): of the embedded provider in this
     * process, or of the kernel. Any thread.
     */
    public List<String> peerMemoryClients() {
        if (provider == VerbsProvider.EMBEDDED) {
            String names = peerMemory0();
            return names.isEmpty() ? List.of() : List.of(names.split(", "));
        }
        String[] names = new File("/sys/kernel/mm/memory_peers").list();
        return names == null ? List.of() : Arrays.stream(names).sorted().collect(Collectors.toUnmodifiableList());
    }

    private static List<VerbsApi> select(String value) {
        switch (value.trim().toLowerCase(Locale.ROOT)) {
        case "ibverbs":
        case "embedded":
            choice = "-D" + PROPERTY + '=' + value;
            return List.of(require(VerbsProvider.valueOf(value.trim().toUpperCase(Locale.ROOT))));
        case "auto":
            String[] reason = new String[1];
            long ibverbs = api0(VerbsProvider.IBVERBS.ordinal(), reason);
            if (ibverbs != 0 && ProviderCheck.hasDevice(ibverbs)) {
                // A device that can't be used must be reported, because the embedded provider reaches no other host.
                choice = "automatic choice: there is an RDMA device";
                VerbsApi device = require(VerbsProvider.IBVERBS);
                try {
                    return List.of(require(VerbsProvider.EMBEDDED), device);
                } catch (UnsatisfiedLinkError e) {
                    if (hasEmbeddedSettings()) {
                        // The settings are wrong. A user who has set them expects shared memory.
                        throw e;
                    }
                    logger.debug("Peers on this host are reached through the device", e);
                    return List.of(device);
                }
            }
            choice = "automatic choice: " + (ibverbs != 0 ? ProviderCheck.ibverbs(ibverbs) : reason[0]);
            return List.of(require(VerbsProvider.EMBEDDED));
        default:
            throw new IllegalArgumentException("system property " + PROPERTY + '=' + value +
                    ": expected auto, ibverbs or embedded");
        }
    }

    private static boolean hasEmbeddedSettings() {
        return !SystemPropertyUtil.get(FOLDER, "").isEmpty() || System.getenv("RDMA_EMBEDDED_FOLDER") != null;
    }

    private static VerbsApi require(VerbsProvider provider) {
        synchronized (PROVIDERS) {
            VerbsApi verbs = PROVIDERS.get(provider);
            if (verbs != null) {
                return verbs;
            }
            boolean isEmbedded = provider == VerbsProvider.EMBEDDED;
            String[] reason = new String[1];
            long api = api0(provider.ordinal(), reason);
            if (api != 0) {
                reason[0] = isEmbedded ? ProviderCheck.embedded(api) : ProviderCheck.ibverbs(api);
            }
            if (reason[0] != null) {
                throw new UnsatisfiedLinkError("verbs provider " + name(provider) + ": " + reason[0] +
                        (isEmbedded ? "" : ". Or use the embedded provider, which reaches processes of the same user " +
                        "on this host alone (-D" + PROPERTY + "=embedded)"));
            }
            verbs = new VerbsApi(provider, api);
            PROVIDERS.put(provider, verbs);
            return verbs;
        }
    }

    private static String name(VerbsProvider provider) {
        return provider.name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the address of a provider's function table, which stays valid; or 0, with the cause in {@code
     * reasons[0]}.
     */
    private static native long api0(int provider, String[] reasons);

    /** Arguments that are {@code null} come from the environment. Returns 0 or a positive errno. */
    private static native int configureEmbedded0(String folder, String users, String groups);

    private static native String describeEmbedded0();

    private static native String peerMemory0();
}
