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

package io.netty.channel.rdma.artifacts;

import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.ChildJvm;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.FindException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications that are modules: the jars as Maven makes them, on the module path.
 */
@Tag("platforms")
class ModulePathTest {
    private static final String MODULE = "io.netty.transport.rdma";
    private static final Path ECHO = Path.of("src", "test", "modules", "echo");

    /** Jars of the class path that are modules. */
    private static final Map<ModuleDescriptor, Path> MODULES = new LinkedHashMap<>();

    @TempDir
    private Path folder;

    @BeforeAll
    static void findModules() {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String name : classPath.split(File.pathSeparator)) {
            if (!name.endsWith(".jar")) {
                continue;
            }
            try {
                for (ModuleReference module : ModuleFinder.of(Path.of(name)).findAll()) {
                    if (!module.descriptor().isAutomatic()) {
                        MODULES.put(module.descriptor(), Path.of(name));
                    }
                }
            } catch (FindException e) {
                // A name of a file of which Java makes no name of a module.
            }
        }
    }

    @Test
    void applicationTalksOverRdma() throws Exception {
        String output = run(0, "(rdma|epoll)");
        assertThat(output).contains("bytes: hello\n", "messages: hello\n", "to Valkey: hello\n");
    }

    @ParameterizedTest
    @CsvSource({"rdma, epoll", "epoll, rdma"})
    void missingModuleOfANativeLibraryIsNamed(String missing, String present) throws Exception {
        String module = MODULES.keySet().stream().map(ModuleDescriptor::name)
                .filter(name -> name.startsWith("io.netty.transport." + missing + ".linux.")).findAny().orElseThrow();
        assertThat(run(1, present)).contains("require the module " + module + ", or name it with --add-modules");
    }

    /** @param libraries a regular expression for the native libraries that the program gets. */
    private String run(int status, String libraries) throws Exception {
        compile();
        Path output = folder.resolve("output");
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-Xmx256m"));
        command.addAll(ChildJvm.SHORT_LIVED);
        for (String name : new String[] {"java.library.path", "io.netty.rdma.provider"}) {
            if (System.getProperty(name) != null) {
                command.add("-D" + name + '=' + System.getProperty(name));
            }
        }
        // Modules of native libraries are resources: the names of the platform's are not in the program's descriptor.
        String resources = MODULES.keySet().stream().map(ModuleDescriptor::name)
                .filter(name -> name.matches("io\\.netty\\.transport\\." + libraries + "\\.linux\\..*"))
                .collect(Collectors.joining(","));
        command.addAll(List.of("-Dseconds=" + TestTimeouts.SECONDS, "-p", modulePath() + File.pathSeparator + classes(),
                "--add-modules", resources, "-m", "echo/echo.Echo", TestAddress.HOST));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        try {
            assertThat(process.waitFor(2 * TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        String text = Files.readString(output);
        assertThat(process.exitValue()).as(text).isEqualTo(status);
        return text;
    }

    @Test
    void onlyTheApiIsExported() {
        ModuleDescriptor module = MODULES.keySet().stream().filter(descriptor -> descriptor.name().equals(MODULE))
                .findAny().orElseThrow(() -> new AssertionError("no module " + MODULE + ": run mvn verify"));
        Set<String> exported = module.exports().stream().map(ModuleDescriptor.Exports::toString)
                .collect(Collectors.toSet());
        String root = RdmaSocketChannel.class.getPackageName();
        assertThat(exported).containsExactlyInAnyOrder(root, root + ".message", root + ".metrics",
                root + ".ortcp", root + ".verbs", root + ".stream to [" + MODULE + ".valkey]");
        assertThat(module.opens()).isEmpty();
    }

    private void compile() throws IOException {
        List<String> arguments = new ArrayList<>(List.of("-Xlint:all", "-Werror", "-d", classes().toString(), "-p",
                modulePath()));
        try (var files = Files.walk(ECHO)) {
            files.filter(file -> file.toString().endsWith(".java")).map(Path::toString).forEach(arguments::add);
        }
        StringWriter output = new StringWriter();
        int status = ToolProvider.findFirst("javac").orElseThrow()
                .run(new PrintWriter(output), new PrintWriter(output), arguments.toArray(new String[0]));
        assertThat(status).as(output.toString()).isZero();
    }

    private Path classes() {
        return folder.resolve("classes");
    }

    private static String modulePath() {
        return MODULES.values().stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }
}
