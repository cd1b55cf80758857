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
package io.netty.channel.rdma;

import io.netty.channel.rdma.message.BlobFuzz;
import io.netty.channel.rdma.stream.StreamFuzz;
import io.netty.util.internal.SystemPropertyUtil;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The fuzz targets: what peers and strangers can say, to the classes that read it. Each replays its corpus, in the
 * folder {@code fuzz} of the test resources, always; with the tag it goes on from there for {@code test.seconds} under
 * Jazzer, in a JVM of its own. What that finds stays in {@code target/fuzz}, and so does an input that fails: it goes
 * into the corpus with a name that says what it was.
 */
class FuzzTest {
    private static final int SECONDS = 15;
    private static final String DRIVER = "com.code_intelligence.jazzer.Jazzer";

    private enum Target {
        STREAM(StreamFuzz.class, StreamFuzz::fuzzerTestOneInput),
        PRIVATE_DATA(PrivateDataFuzz.class, PrivateDataFuzz::fuzzerTestOneInput),
        BLOB(BlobFuzz.class, BlobFuzz::fuzzerTestOneInput);

        private final Class<?> type;
        private final Consumer<byte[]> run;

        Target(Class<?> type, Consumer<byte[]> run) {
            this.type = type;
            this.run = run;
        }

        String folder() {
            return name().toLowerCase(Locale.ROOT);
        }

        Path corpus() throws URISyntaxException {
            return Path.of(FuzzTest.class.getResource("/fuzz/" + folder()).toURI());
        }
    }

    @ParameterizedTest
    @EnumSource
    void corpus(Target target) throws Exception {
        List<Path> inputs = new ArrayList<>();
        try (Stream<Path> files = Files.list(target.corpus())) {
            files.sorted().forEach(inputs::add);
        }
        assertThat(inputs).isNotEmpty();
        for (Path input : inputs) {
            try {
                target.run.accept(Files.readAllBytes(input));
            } catch (RuntimeException e) {
                throw new AssertionError("input " + input, e);
            }
        }
    }

    @Tag("fuzz")
    @ParameterizedTest
    @EnumSource
    void newInputs(Target target) throws Exception {
        long seconds = SystemPropertyUtil.getLong("test.seconds", SECONDS);
        Path found = Files.createDirectories(Path.of("target", "fuzz", target.folder()).toAbsolutePath());
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m", "-cp",
                System.getProperty("java.class.path"), DRIVER, "--target_class=" + target.type.getName(),
                "--instrumentation_includes=io.netty.channel.rdma.**", "--disabled_hooks=.*",
                "--reproducer_path=" + found.getParent(), "-artifact_prefix=" + found + '-', "-max_len=1024",
                "-len_control=0", "-timeout=100", "-max_total_time=" + seconds, "-print_final_stats=1"));
        String seed = SystemPropertyUtil.get("test.seed");
        if (seed != null) {
            command.add("-seed=" + seed);
        }
        command.add(found.toString());
        command.add(target.corpus().toString());
        Path log = found.resolveSibling(target.folder() + ".log");
        assertThat(exitValue(command, log, seconds)).as("see %s, which ends with%n%s", log, end(log)).isZero();
    }

    private static int exitValue(List<String> command, Path log, long seconds) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            assertThat(process.waitFor(seconds + 10 * TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    private static String end(Path log) throws IOException {
        List<String> lines = Files.readAllLines(log);
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 40), lines.size()));
    }
}
