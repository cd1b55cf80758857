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
package io.netty.channel.rdma.agent.transform;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.jar.JarFile;

/**
 * The class loaders that have a Netty. Each gets the transport, if possible, before the first changed class of Netty is
 * defined; either all such classes are changed or none. The transport is added to the loader of Netty itself, not to a
 * child. Netty loads native libraries by its own loader ({@code NativeLibraryLoader}), where their {@code JNI_OnLoad}
 * looks for classes. Any thread.
 */
final class Attachments {
    private static final String NETTY = "io/netty/bootstrap/AbstractBootstrap.class";
    private static final String HOOKS = "io/netty/channel/rdma/agent/hooks/Hooks.class";
    private static final String TRANSPORT = "io/netty/channel/rdma/Rdma.class";
    private static final String ATTACHED = "";

    private final Instrumentation instrumentation;
    private final AgentJar jar;
    /** By loader, the reason why its Netty is not changed, or {@link #ATTACHED}. */
    private final Map<ClassLoader, String> loaders = new WeakHashMap<>();

    /** By loader and name, changed classes that are not loaded yet. */
    private final Map<ClassLoader, Map<String, Changed>> patched = new WeakHashMap<>();

    private record Changed(byte[] before, byte[] after) { }

    Attachments(Instrumentation instrumentation, URL jar) {
        this.instrumentation = instrumentation;
        this.jar = new AgentJar(jar);
    }

    /**
     * State of a loader.
     *
     * @param refusal the reason why its Netty is not changed, or {@code null}.
     * @param isNew whether this is the first call for the loader.
     */
    record Result(String refusal, boolean isNew) { }

    /** The loader of the Netty that a class of this loader uses, by delegation to parents first, or {@code null}. */
    ClassLoader loaderOfNetty(ClassLoader loader) {
        ClassLoader found = null;
        for (ClassLoader each = loader; each != null && each.getResource(NETTY) != null; each = each.getParent()) {
            found = each;
        }
        return found;
    }

    /** @param module of Netty. */
    synchronized Result attach(ClassLoader loader, Module module) {
        String refusal = loaders.get(loader);
        boolean isNew = refusal == null;
        if (isNew) {
            // Before the work, which may load classes by this loader.
            loaders.put(loader, "the transport is being added");
            refusal = tryToAttach(loader, module);
            loaders.put(loader, refusal);
        }
        return new Result(refusal.equals(ATTACHED) ? null : refusal, isNew);
    }

    private String tryToAttach(ClassLoader loader, Module module) {
        try {
            if (module != null && module.isNamed()) {
                return "Netty is on the module path, where the transport can't be added to it";
            }
            if (loader.getResource(TRANSPORT) != null) {
                return "the application has the RDMA transport itself";
            }
            String version = NettyJars.version(loader);
            String problem = NettyJars.problem(version);
            if (problem == null) {
                problem = patchesDoNotFit(loader, version);
            }
            return problem == null ? extend(loader, version) : problem;
        } catch (Exception | LinkageError e) {
            return "the transport can't be added to the class loader of Netty: " + e;
        }
    }

    /**
     * Returns the changed class of Netty. All such classes were changed before the first one was loaded.
     *
     * @throws IllegalStateException if the class is not what it should be.
     */
    byte[] patched(ClassLoader loader, String name, byte[] bytes) {
        Changed changed;
        synchronized (this) {
            Map<String, Changed> ofLoader = patched.get(loader);
            changed = ofLoader == null ? null : ofLoader.remove(name);
        }
        return changed != null && Arrays.equals(changed.before, bytes) ? changed.after : Patches.ofNetty(name, bytes);
    }

    /** Tries to change all classes before the first one is loaded. Returns the reason of a failure, or {@code null}. */
    private String patchesDoNotFit(ClassLoader loader, String version) throws IOException {
        Map<String, Changed> ofLoader = new HashMap<>();
        for (String name : Patches.names()) {
            try (InputStream in = loader.getResourceAsStream(name + ".class")) {
                if (in != null) {
                    byte[] before = in.readAllBytes();
                    ofLoader.put(name, new Changed(before, Patches.ofNetty(name, before)));
                } else if (!NettyJars.isOptional(name)) {
                    return "Netty " + version + " has no class " + name.replace('/', '.');
                }
            } catch (IllegalStateException e) {
                return "this agent does not know Netty " + version + ": " + e.getMessage();
            }
        }
        patched.put(loader, ofLoader);
        return null;
    }

    private String extend(ClassLoader loader, String version) throws Exception {
        if (loader != ClassLoader.getSystemClassLoader() && !(loader instanceof URLClassLoader)) {
            return "nothing can be added to the class loader of Netty, a " + loader.getClass().getName();
        }
        List<Path> files = new ArrayList<>();
        for (NettyJars.Added added : NettyJars.missing(loader, version)) {
            Path file = jar.netty(added.file());
            if (file == null) {
                return "the application has no " + added.artifact() + ", and the agent has none of Netty " + version +
                        ": add it to the class path";
            }
            files.add(file);
        }
        files.addAll(jar.application());
        for (Path file : files) {
            add(loader, file);
        }
        // To look for a class opens its jar, so later a cleaner of temporary files may delete it.
        return loader.getResource(HOOKS) != null && loader.getResource(TRANSPORT) != null ? ATTACHED :
                "the class loader of Netty, a " + loader.getClass().getName() + ", does not take what is added";
    }

    private void add(ClassLoader loader, Path file) throws Exception {
        if (loader == ClassLoader.getSystemClassLoader()) {
            try (JarFile opened = new JarFile(file.toFile())) {
                instrumentation.appendToSystemClassLoaderSearch(opened);
            }
        } else {
            open("java.net", Attachments.class.getModule());
            Method addUrl = URLClassLoader.class.getDeclaredMethod("addURL", URL.class);
            addUrl.setAccessible(true);
            addUrl.invoke(loader, file.toUri().toURL());
        }
    }

    /** Lets a module read the descriptors of selectors, where Netty may not use {@code Unsafe}. */
    void openSelectors(Module to) {
        open("sun.nio.ch", to);
    }

    private void open(String packageOfJdk, Module to) {
        instrumentation.redefineModule(Object.class.getModule(), Set.of(), Map.of(),
                Map.of(packageOfJdk, Set.of(to)), Set.of(), Map.of());
    }
}
