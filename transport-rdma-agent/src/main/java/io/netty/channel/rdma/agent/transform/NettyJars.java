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
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;

/** The version of an application's Netty, and its missing jars. */
final class NettyJars {
    private static final String VERSIONS = "META-INF/io.netty.versions.properties";
    private static final String ARTIFACT = "netty-transport.version";
    /** The oldest version that the transport runs with, as in {@code io.netty.channel.rdma.NettyVersion}. */
    private static final int OLDEST_OF_4_2 = 9;

    private NettyJars() { }

    /** The version of {@code netty-transport}, or the one of all jars, or {@code null}. */
    static String version(ClassLoader loader) throws IOException {
        Set<String> versions = new TreeSet<>();
        for (URL url : Collections.list(loader.getResources(VERSIONS))) {
            Properties properties = new Properties();
            try (InputStream in = url.openStream()) {
                properties.load(in);
            }
            if (properties.getProperty(ARTIFACT) != null) {
                return properties.getProperty(ARTIFACT);
            }
            // A jar that contains several others may have this file of one of them.
            for (String name : properties.stringPropertyNames()) {
                if (name.endsWith(".version")) {
                    versions.add(properties.getProperty(name));
                }
            }
        }
        return versions.size() == 1 ? versions.iterator().next() : null;
    }

    /** The reason why the transport does not run with a version, or {@code null}. */
    static String problem(String version) {
        try {
            // split() with this pattern loads no classes of regular expressions.
            String[] numbers = version.split("\\.");
            return numbers[0].equals("4") && numbers[1].equals("2") && Integer.parseInt(numbers[2]) >= OLDEST_OF_4_2 ?
                    null :
                    "Netty is " + version + ", and the RDMA transport needs 4.2, from 4.2." + OLDEST_OF_4_2 + " on";
        } catch (RuntimeException e) {
            return "the version of Netty is not to be known: no jar has " + VERSIONS;
        }
    }

    /** Returns whether an application may lack a class of Netty, because the agent adds it. */
    static boolean isOptional(String name) {
        return name.startsWith("io/netty/channel/epoll/");
    }

    /** A jar to add, and the name of its file in the agent's jar. */
    record Added(String artifact, String file) { }

    /** The jars of Netty's epoll transport that an application lacks. */
    static List<Added> missing(ClassLoader loader, String version) {
        String arch = System.getProperty("os.arch").equals("aarch64") ? "aarch_64" : "x86_64";
        List<Added> missing = new ArrayList<>();
        add(missing, loader, "io/netty/channel/unix/FileDescriptor.class", "netty-transport-native-unix-common",
                version, "");
        add(missing, loader, "io/netty/channel/epoll/EpollIoHandler.class", "netty-transport-classes-epoll", version,
                "");
        add(missing, loader, "META-INF/native/libnetty_transport_native_epoll_" + arch + ".so",
                "netty-transport-native-epoll", version, "-linux-" + arch);
        return missing;
    }

    private static void add(List<Added> missing, ClassLoader loader, String resource, String artifact, String version,
                            String suffix) {
        if (loader.getResource(resource) == null) {
            missing.add(new Added(artifact, artifact + '-' + version + suffix + ".jar"));
        }
    }
}
