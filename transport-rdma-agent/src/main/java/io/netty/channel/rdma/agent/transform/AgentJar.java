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

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * The jars in the agent's jar, as files, because class loaders can't read a jar in a jar. The files stay in a folder
 * that only this user can read. All JVMs of a user with the same agent share them, so a start is shorter, and a killed
 * JVM leaves no files of its own. Not for several threads at once.
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

    /** The beginning of the names of folders. */
    private static final String NAME = "netty-transport-rdma-agent-";
    private static final FileAttribute<?> OF_USER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    /** Bits of {@code st_mode}: inode(7). */
    private static final int TYPE_AND_RIGHTS_OF_OTHERS = 0170077;
    private static final int DIRECTORY = 0040000;

    private final URL location;
    private Path folder;
    private boolean isDeletedAtEnd;
    private List<Path> application;

    AgentJar(URL location) {
        this.location = location;
    }

    /** The jars of the transport, and of the hooks that call it. */
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

    /**
     * The folder of this user for jars with these contents. If another user has made a folder of this name, this JVM
     * makes its own folder, and deletes it at its end.
     */
    private Path folder(JarFile jar) throws IOException {
        if (folder == null) {
            Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
            Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
            Path shared = temporary.resolve(NAME + user + '-' + contents(jar));
            if (create(shared) || isOf(user, shared)) {
                folder = shared;
                return folder;
            }
            do {
                folder = temporary.resolve(NAME + System.nanoTime());
            } while (!create(folder));
            folder.toFile().deleteOnExit();
            isDeletedAtEnd = true;
        }
        return folder;
    }

    /** A sum of the names and contents of the jars in the agent's jar. */
    private static String contents(JarFile jar) {
        CRC32 sum = new CRC32();
        for (JarEntry entry : Collections.list(jar.entries())) {
            sum.update((entry.getName() + entry.getCrc()).getBytes(StandardCharsets.UTF_8));
        }
        return Long.toHexString(sum.getValue());
    }

    /**
     * Creates a folder; returns false if the name exists. {@code Files.createTempDirectory} would need a secure random
     * number, which costs 20 ms of a start.
     */
    private static boolean create(Path path) throws IOException {
        try {
            Files.createDirectory(path, OF_USER);
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        }
    }

    /** Returns whether the path is a directory of the user without rights for others. */
    private static boolean isOf(Object user, Path path) throws IOException {
        int mode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        return (mode & TYPE_AND_RIGHTS_OF_OTHERS) == DIRECTORY &&
                user.equals(Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS));
    }

    private Path copy(JarFile jar, JarEntry entry) throws IOException {
        Path file = folder(jar).resolve(entry.getName().substring(entry.getName().lastIndexOf('/') + 1));
        if (!Files.exists(file)) {
            Path part = part(file);
            try (InputStream in = jar.getInputStream(entry);
                 FileOutputStream out = new FileOutputStream(part.toFile())) {
                in.transferTo(out);
                complete(out, part, file);
            }
        }
        return file;
    }

    private Path hooks(JarFile jar) throws IOException {
        Path file = folder(jar).resolve("hooks.jar");
        if (Files.exists(file)) {
            return file;
        }
        Path part = part(file);
        try (FileOutputStream out = new FileOutputStream(part.toFile());
             JarOutputStream hooks = new JarOutputStream(out)) {
            hooks.setLevel(Deflater.NO_COMPRESSION);
            for (JarEntry entry : Collections.list(jar.entries())) {
                if (entry.getName().startsWith(HOOKS) && !entry.isDirectory()) {
                    JarEntry copy = new JarEntry(entry.getName().substring(HOOKS.length()));
                    // The default is the present time, for which the JDK would load its time zones.
                    copy.setTimeLocal(TIME);
                    hooks.putNextEntry(copy);
                    try (InputStream in = jar.getInputStream(entry)) {
                        in.transferTo(hooks);
                    }
                    hooks.closeEntry();
                }
            }
            hooks.finish();
            complete(out, part, file);
        }
        return file;
    }

    /** The name of a file while it is written, which no other JVM uses. */
    private static Path part(Path file) {
        Path part = file.resolveSibling(
                file.getFileName() + "." + ProcessHandle.current().pid() + '.' + System.nanoTime());
        part.toFile().deleteOnExit();
        return part;
    }

    /** Renames a complete file. First syncs its contents to the disk, in case of a power loss. */
    private void complete(FileOutputStream out, Path part, Path file) throws IOException {
        out.getFD().sync();
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        if (isDeletedAtEnd) {
            file.toFile().deleteOnExit();
        }
    }
}
