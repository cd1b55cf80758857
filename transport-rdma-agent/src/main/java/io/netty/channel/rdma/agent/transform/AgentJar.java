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
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.zip.Deflater;

/**
 * The jars in the agent's jar, as files for class loaders, which can't read a jar in a jar: in a folder that only this
 * user can read, until the JVM ends. Not for several threads at once.
 */
final class AgentJar {
    private static final String ROOT = "META-INF/rdma-agent/";
    /** Jars that go into each loader. */
    private static final String LIB = ROOT + "lib/";
    /** Classes that go into each loader. */
    private static final String HOOKS = ROOT + "hooks/";
    /** Jars of Netty, of all versions. */
    private static final String NETTY = ROOT + "netty/";

    private static final LocalDateTime TIME = LocalDateTime.of(2000, 1, 1, 0, 0);

    private final URL location;
    private Path folder;
    private List<Path> application;

    AgentJar(URL location) {
        this.location = location;
    }

    /** The transport, and what calls it. */
    List<Path> application() throws IOException {
        if (application == null) {
            List<Path> files = new ArrayList<>();
            try (JarFile jar = open()) {
                files.add(hooks(jar));
                for (JarEntry entry : Collections.list(jar.entries())) {
                    if (entry.getName().startsWith(LIB) && entry.getName().endsWith(".jar")) {
                        files.add(copy(jar, entry));
                    }
                }
            }
            application = files;
        }
        return application;
    }

    /** A jar of Netty, or {@code null} if the agent does not have it. */
    Path netty(String file) throws IOException {
        try (JarFile jar = open()) {
            JarEntry entry = jar.getJarEntry(NETTY + file);
            return entry == null ? null : copy(jar, entry);
        }
    }

    private JarFile open() throws IOException {
        try {
            return new JarFile(Path.of(location.toURI()).toFile());
        } catch (URISyntaxException e) {
            throw new IOException(e);
        }
    }

    private Path file(String name) throws IOException {
        if (folder == null) {
            folder = newFolder();
            folder.toFile().deleteOnExit();
        }
        Path file = folder.resolve(name);
        file.toFile().deleteOnExit();
        return file;
    }

    /** Unlike {@code Files.createTempDirectory}, without a secure random number, which costs 20 ms of a start. */
    private static Path newFolder() throws IOException {
        FileAttribute<?> ofUser = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        for (long number = ProcessHandle.current().pid();; number = System.nanoTime()) {
            try {
                return Files.createDirectory(Path.of(System.getProperty("java.io.tmpdir"),
                        "netty-transport-rdma-agent" + number), ofUser);
            } catch (FileAlreadyExistsException e) {
                // Left by a process that was killed, or of one with the same id in another container.
                continue;
            }
        }
    }

    private Path copy(JarFile jar, JarEntry entry) throws IOException {
        Path file = file(entry.getName().substring(entry.getName().lastIndexOf('/') + 1));
        if (!Files.exists(file)) {
            try (InputStream in = jar.getInputStream(entry)) {
                Files.copy(in, file);
            }
        }
        return file;
    }

    private Path hooks(JarFile jar) throws IOException {
        Path file = file("hooks.jar");
        try (OutputStream out = Files.newOutputStream(file); JarOutputStream hooks = new JarOutputStream(out)) {
            hooks.setLevel(Deflater.NO_COMPRESSION);
            for (JarEntry entry : Collections.list(jar.entries())) {
                if (entry.getName().startsWith(HOOKS) && !entry.isDirectory()) {
                    JarEntry copy = new JarEntry(entry.getName().substring(HOOKS.length()));
                    // Without a time it would be now, for which the JDK reads its time zones.
                    copy.setTimeLocal(TIME);
                    hooks.putNextEntry(copy);
                    try (InputStream in = jar.getInputStream(entry)) {
                        in.transferTo(hooks);
                    }
                    hooks.closeEntry();
                }
            }
        }
        return file;
    }
}
