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
package io.netty.channel.rdma.agent;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * The class that {@code -javaagent} starts. Only this class and its nested class loader are on the application's class
 * path. All other classes of the agent are in other class loaders: see the package.
 */
public final class Premain {
    /** Objects that the agent shares with its classes in the application's loaders: of classes of the JDK only. */
    private static final Map<String, Object> SHARED = new ConcurrentHashMap<>();

    private Premain() { }

    /**
     * Starts the agent, before {@code main}.
     *
     * @param arguments       what follows the agent's jar and {@code =}, or {@code null}.
     * @param instrumentation of this JVM.
     * @throws Exception if the arguments are wrong, which ends the JVM.
     */
    public static void premain(String arguments, Instrumentation instrumentation) throws Exception {
        URL jar = Premain.class.getProtectionDomain().getCodeSource().getLocation();
        ClassLoader loader = new AgentClasses(new JarFile(new File(jar.toURI())));
        try {
            loader.loadClass("io.netty.channel.rdma.agent.transform.Agent")
                    .getMethod("start", String.class, Instrumentation.class, URL.class, Map.class)
                    .invoke(null, arguments, instrumentation, jar, SHARED);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof Exception ? (Exception) e.getCause() : e;
        }
    }

    /**
     * The loader of all other classes of the agent. A {@code URLClassLoader} of a folder in a jar would take several
     * times as long.
     */
    private static final class AgentClasses extends ClassLoader {
        private final JarFile jar;

        AgentClasses(JarFile jar) {
            super("netty-transport-rdma-agent", ClassLoader.getPlatformClassLoader());
            this.jar = jar;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            JarEntry entry = jar.getJarEntry("META-INF/rdma-agent/agent/" + name.replace('.', '/') + ".class");
            if (entry == null) {
                throw new ClassNotFoundException(name);
            }
            try (InputStream in = jar.getInputStream(entry)) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    /** Returns the objects that are shared with classes of other loaders. They call this by reflection. */
    public static Map<String, Object> shared() {
        return SHARED;
    }
}
