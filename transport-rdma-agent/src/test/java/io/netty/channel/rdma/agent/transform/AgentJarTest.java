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

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Files that JVMs with the agent share: who makes them, and whose are not used. */
class AgentJarTest {
    private static final String TEMPORARY = "java.io.tmpdir";

    @TempDir
    private Path temporary;
    @TempDir
    private Path elsewhere;
    private String before;

    @BeforeEach
    void useTheFolder() {
        before = System.setProperty(TEMPORARY, temporary.toString());
    }

    @AfterEach
    void useItNoMore() {
        System.setProperty(TEMPORARY, before);
    }

    @Test
    void filesHaveTheContentsAndNobodyElseReadsThem() throws Exception {
        List<Path> files = jar("one").application();
        assertThat(files).extracting(file -> file.getFileName().toString()).containsExactly("hooks.jar", "one.jar");
        assertThat(files.get(1)).hasContent("one");
        try (JarFile hooks = new JarFile(files.get(0).toFile())) {
            assertThat(hooks.stream()).extracting(JarEntry::getName).containsExactly("a/Hook.class");
        }
        assertThat(Files.getPosixFilePermissions(files.get(0).getParent()))
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));
        try (Stream<Path> left = Files.list(files.get(0).getParent())) {
            assertThat(left).containsExactlyInAnyOrderElementsOf(files);
        }
    }

    @Test
    void filesThatAreThereAreUsedAgain() throws Exception {
        List<Path> files = jar("one").application();
        Object[] inodes = inodes(files);
        assertThat(jar("one").application()).isEqualTo(files);
        assertThat(inodes(files)).isEqualTo(inodes);
    }

    @Test
    void anotherAgentHasAnotherFolder() throws Exception {
        assertThat(jar("one").application().get(0)).isNotEqualTo(jar("two").application().get(0));
    }

    @Test
    void folderThatOthersMayWriteToIsNotUsed() throws Exception {
        Path folder = jar("one").application().get(0).getParent();
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertOwnFolder(folder);
    }

    @Test
    void linkIsNotFollowed() throws Exception {
        Path folder = jar("one").application().get(0).getParent();
        Path moved = elsewhere.resolve("moved");
        Files.move(folder, moved);
        Files.createSymbolicLink(folder, moved);
        assertOwnFolder(folder);
    }

    private void assertOwnFolder(Path notThis) throws Exception {
        List<Path> files = jar("one").application();
        assertThat(files.get(0).getParent()).hasParent(temporary).isNotEqualTo(notThis);
        assertThat(files.get(1)).hasContent("one");
    }

    private static Object[] inodes(List<Path> files) throws IOException {
        Object[] inodes = new Object[files.size()];
        for (int i = 0; i < inodes.length; i++) {
            inodes[i] = Files.getAttribute(files.get(i), "unix:ino");
        }
        return inodes;
    }

    private AgentJar jar(String name) throws IOException {
        Path file = elsewhere.resolve(name + ".jar");
        try (OutputStream out = Files.newOutputStream(file); JarOutputStream jar = new JarOutputStream(out)) {
            jar.putNextEntry(new JarEntry("META-INF/rdma-agent/hooks/a/Hook.class"));
            jar.write(1);
            jar.putNextEntry(new JarEntry("META-INF/rdma-agent/lib/" + name + ".jar"));
            jar.write(name.getBytes(StandardCharsets.UTF_8));
        }
        return new AgentJar(file.toUri().toURL());
    }
}
