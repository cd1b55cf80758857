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

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import unmodified.Casts;
import unmodified.EpollEcho;
import unmodified.InLoaders;
import unmodified.OldNioEcho;
import unmodified.WebFlux;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Programs whose Netty is not in the system class loader.
 */
@Tag("platforms")
class LoadersTest {
    private static final long MIB = 1024 * 1024;
    private static final String SPRING_BOOT = "org.springframework.boot.loader.launch.JarLauncher";

    @TempDir
    private Path folder;

    private static void assertSame(ProgramResult with, ProgramResult without, long bytes) {
        assertThat(without.exitStatus()).as(without::toString).isZero();
        assertThat(with.answers()).as(with::toString).isEqualTo(without.answers());
        assertThat(with.exitStatus()).as(with::toString).isZero();
        assertThat(with.bytesOverRdma()).as(with::toString).isGreaterThanOrEqualTo(bytes);
    }

    private static Program inLoaders(int loaders, Class<?> main, String... arguments) {
        List<String> all = new ArrayList<>(List.of(String.valueOf(loaders), Program.of(main).classPath(),
                main.getName()));
        all.addAll(List.of(arguments));
        return Program.of(InLoaders.class, all.toArray(new String[0])).withoutLibraries();
    }

    /** Each has classes and a native library of its own. */
    @Test
    void severalClassLoadersOfAProgramHaveANettyEach() throws Exception {
        ProgramResult with = inLoaders(2, EpollEcho.class).withAgent().run();
        List<String> answers = new ArrayList<>(Program.of(EpollEcho.class).run().answers());
        answers.addAll(answers);
        assertThat(with.answers()).as(with::toString).isEqualTo(answers);
        assertThat(with.exitStatus()).as(with::toString).isZero();
        assertThat(with.lines("count bytesSentInPlace: " + 8 * MIB)).as(with::toString).hasSize(2);
    }

    @Test
    void castOfAProgramInALoaderOfItsOwnIsFound() throws Exception {
        ProgramResult with = inLoaders(1, Casts.class, "nio-parameter").withAgent().run();
        assertSame(with, Program.of(Casts.class, "nio-parameter").run(), 0);
        assertThat(with.bytesOverRdma()).as(with::toString).isZero();
    }

    /** As Spring Boot extracts its jars ({@code -Djarmode=tools}). */
    @Test
    void jarWhoseManifestNamesItsLibraries() throws Exception {
        Path jar = folder.resolve("application.jar");
        Manifest manifest = manifest(OldNioEcho.class.getName());
        manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH,
                Arrays.stream(Program.of(OldNioEcho.class).withoutEpoll().classPath().split(File.pathSeparator))
                        .map(each -> new File(each).toURI().toString()).collect(Collectors.joining(" ")));
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        assertSame(Program.ofJar(jar).withAgent().run(), Program.of(OldNioEcho.class).withoutEpoll().run(), 8 * MIB);
    }

    @Test
    @Tag("all")
    void jarOfSpringBootWithWebFlux() throws Exception {
        ProgramResult with = Program.ofJar(springBootJar(WebFlux.class, "")).withAgent().run();
        assertSame(with, Program.of(WebFlux.class).run(), 20 * MIB);
    }

    /** As the plugins of Spring Boot make it: jars in a jar, which its own class loader reads. */
    @Test
    void jarOfSpringBoot() throws Exception {
        Path jar = springBootJar(OldNioEcho.class, "netty-");
        ProgramResult with = Program.ofJar(jar).withAgent().run();
        assertSame(with, Program.of(OldNioEcho.class).withoutEpoll().run(), 8 * MIB);
    }

    /** As in layers of container images: the jar unpacked, which the same class loader reads. */
    @Test
    void folderOfSpringBoot() throws Exception {
        Path unpacked = folder.resolve("unpacked");
        try (JarFile jar = new JarFile(springBootJar(OldNioEcho.class, "netty-").toFile())) {
            for (JarEntry entry : jar.stream().filter(each -> !each.isDirectory()).toList()) {
                Path file = unpacked.resolve(entry.getName());
                Files.createDirectories(file.getParent());
                Files.copy(jar.getInputStream(entry), file);
            }
        }
        ProgramResult with = Program.ofFolder(unpacked, SPRING_BOOT).withAgent().run();
        assertSame(with, Program.of(OldNioEcho.class).withoutEpoll().run(), 8 * MIB);
    }

    private static Manifest manifest(String main) {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, main);
        return manifest;
    }

    /** With libraries whose names begin so. */
    private Path springBootJar(Class<?> main, String libraries) throws IOException {
        Path file = folder.resolve("application.jar");
        Manifest manifest = manifest(SPRING_BOOT);
        manifest.getMainAttributes().putValue("Start-Class", main.getName());
        manifest.getMainAttributes().putValue("Spring-Boot-Classes", "BOOT-INF/classes/");
        manifest.getMainAttributes().putValue("Spring-Boot-Lib", "BOOT-INF/lib/");
        try (OutputStream out = Files.newOutputStream(file); JarOutputStream jar = new JarOutputStream(out, manifest);
             JarFile loader = new JarFile(loaderOfSpringBoot())) {
            for (JarEntry entry : loader.stream().filter(each -> each.getName().endsWith(".class")).toList()) {
                add(jar, entry.getName(), loader.getInputStream(entry).readAllBytes());
            }
            for (String directory : new String[] {"BOOT-INF/", "BOOT-INF/classes/", "BOOT-INF/lib/"}) {
                add(jar, directory, new byte[0]);
            }
            Path classes = Program.CLASSES;
            try (Stream<Path> files = Files.walk(classes.resolve("unmodified"))) {
                for (Path each : files.filter(Files::isRegularFile).toList()) {
                    add(jar, "BOOT-INF/classes/" + classes.relativize(each), Files.readAllBytes(each));
                }
            }
            for (String path : Program.of(main).withoutEpoll().classPath().split(File.pathSeparator)) {
                String name = Path.of(path).getFileName().toString();
                if (name.startsWith(libraries) && name.endsWith(".jar")) {
                    add(jar, "BOOT-INF/lib/" + name, Files.readAllBytes(Path.of(path)));
                }
            }
        }
        return file;
    }

    private static File loaderOfSpringBoot() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).map(File::new)
                .filter(jar -> jar.getName().startsWith("spring-boot-loader-")).findFirst().orElseThrow();
    }

    /** Not compressed, as Spring Boot's loader asks for with jars. */
    private static void add(JarOutputStream jar, String name, byte[] bytes) throws IOException {
        JarEntry entry = new JarEntry(name);
        CRC32 crc = new CRC32();
        crc.update(bytes);
        entry.setMethod(JarEntry.STORED);
        entry.setSize(bytes.length);
        entry.setCrc(crc.getValue());
        jar.putNextEntry(entry);
        jar.write(bytes);
        jar.closeEntry();
    }
}
