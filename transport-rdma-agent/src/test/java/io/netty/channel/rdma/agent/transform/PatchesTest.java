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

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("quick")
class PatchesTest {
    private static final String BOOTSTRAP = "io/netty/bootstrap/AbstractBootstrap";

    /** Jars of Netty: those that the tests are built with, or of another version. */
    private static List<Path> jars(String folder) throws IOException {
        if (folder.isEmpty()) {
            return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of)
                    .filter(jar -> jar.getFileName().toString().matches("netty-transport(-classes-epoll)?-4.*"))
                    .toList();
        }
        try (Stream<Path> files = Files.list(Path.of("target", folder))) {
            return files.toList();
        }
    }

    private static byte[] read(String folder, String name) throws IOException {
        for (Path path : jars(folder)) {
            try (JarFile jar = new JarFile(path.toFile())) {
                if (jar.getEntry(name + ".class") != null) {
                    try (InputStream in = jar.getInputStream(jar.getEntry(name + ".class"))) {
                        return in.readAllBytes();
                    }
                }
            }
        }
        return null;
    }

    @ParameterizedTest
    @ValueSource(strings = { "", "netty-oldest", "netty-newest" })
    void eachClassHasThePlacesThatAreChanged(String folder) throws IOException {
        int found = 0;
        for (String name : Patches.names()) {
            byte[] bytes = read(folder, name);
            if (bytes != null) {
                found++;
                assertThat(Patches.ofNetty(name, bytes)).as(name).isNotEqualTo(bytes);
            } else {
                assertThat(NettyJars.isOptional(name)).as(name).isTrue();
            }
        }
        assertThat(found).isGreaterThanOrEqualTo(Patches.names().size() - 1);
    }

    @Test
    void epollOfEachVersionInTheAgentHasThem() throws IOException {
        String name = "io/netty/channel/epoll/EpollEventLoop";
        int versions = 0;
        try (Stream<Path> jars = Files.list(Path.of("target/agent/META-INF/rdma-agent/netty"))) {
            for (Path path : jars.filter(jar -> jar.toString().contains("classes-epoll")).toList()) {
                try (JarFile jar = new JarFile(path.toFile());
                     InputStream in = jar.getInputStream(jar.getEntry(name + ".class"))) {
                    assertThat(Patches.ofNetty(name, in.readAllBytes())).isNotEmpty();
                    versions++;
                }
            }
        }
        assertThat(versions).isGreaterThanOrEqualTo(10);
    }

    @Test
    void classWithAnotherNumberOfPlacesIsNotChanged() throws IOException {
        ClassReader reader = new ClassReader(read("", BOOTSTRAP));
        ClassWriter writer = new ClassWriter(0);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String method, String descriptor, String signature,
                                             String[] exceptions) {
                return method.equals("setChannelOption") ? null :
                        super.visitMethod(access, method, descriptor, signature, exceptions);
            }
        }, 0);
        assertThatThrownBy(() -> Patches.ofNetty(BOOTSTRAP, writer.toByteArray()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("io.netty.bootstrap.AbstractBootstrap has 1 places to change, 2 are expected");
    }

    @ParameterizedTest
    @ValueSource(strings = { "4.2.9.Final", "4.2.17.Final", "4.2.100.Final-SNAPSHOT" })
    void versionsThatTheTransportRunsWith(String version) {
        assertThat(NettyJars.problem(version)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = { "4.1.118.Final", "4.2.8.Final", "4.2.0.RC1", "5.0.0.Alpha1", "4.3.0.Final" })
    void otherVersionsAreNamed(String version) {
        assertThat(NettyJars.problem(version)).contains(version);
    }

    @Test
    void unknownVersionIsAProblem() {
        assertThat(NettyJars.problem(null)).contains("io.netty.versions.properties");
    }
}
