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
package io.netty.example.rdma;

import io.netty.example.rdma.harness.Comparison;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The harness uses the examples, and they do not use it: a reader of an example does not meet it.
 */
class HarnessTest {
    private static final String ROOT = "io/netty/example/rdma/";
    private static final String HARNESS = ROOT + "harness/";
    /** Starts the harness's control of a server that is measured, if that was asked for on the command line. */
    private static final String EXCEPTION = ROOT + "util/ServerRun";

    @Test
    void noExampleUsesTheHarness() throws Exception {
        List<String> examples = classes().filter(name -> !name.startsWith(HARNESS)).toList();
        assertThat(examples).contains(ROOT + "http/HttpServer.class");
        assertThat(examples.stream().filter(name -> !name.startsWith(EXCEPTION)).filter(HarnessTest::usesHarness))
                .isEmpty();
    }

    @Test
    void usesAreFound() throws Exception {
        assertThat(classes().filter(HarnessTest::usesHarness)).contains(EXCEPTION + ".class");
    }

    private static Stream<String> classes() throws IOException, URISyntaxException {
        Path folder = folder();
        try (var files = Files.walk(folder)) {
            return files.map(file -> folder.relativize(file).toString())
                    .filter(name -> name.startsWith(ROOT) && name.endsWith(".class")).toList().stream();
        }
    }

    /** Class files name other classes in their constant pools: JVM specification, 4.4.1 and 4.3.2. */
    private static boolean usesHarness(String name) {
        try {
            return Files.readString(folder().resolve(name), StandardCharsets.ISO_8859_1).contains(HARNESS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    private static Path folder() throws URISyntaxException {
        return Path.of(Comparison.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    }
}
