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
package io.netty.channel.rdma.verbs;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import javax.tools.ToolProvider;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A native library that is not of the build of the classes: here the classes are, or say that they are, of another one.
 */
@Tag("quick")
class NativeVersionTest {
    /** Prints what verbs say. */
    static final class Report {
        private Report() { }

        public static void main(String[] arguments) {
            System.out.println("cause " + VerbsApi.unavailabilityCause());
        }
    }

    /** @param classes that come before those of the build. */
    private static String causeWith(Path classes) throws Exception {
        String classPath = classes + File.pathSeparator + System.getProperty("java.class.path");
        try (ChildJvm child = new ChildJvm(Report.class, List.of("java.class.path=" + classPath))) {
            return child.line("cause");
        }
    }

    private static void setVersion(Path classes, String version) throws Exception {
        Files.writeString(Files.createDirectories(classes.resolve("META-INF")).resolve("netty-rdma.version"), version);
    }

    @Test
    void theSameBuildIsNoProblem() {
        assertThat(NativeVersion.problem("1.0.0 abc", "1.0.0 abc")).isNull();
    }

    @Test
    void otherVersionsAreNamedWithoutTheirBuilds() {
        assertThat(NativeVersion.problem("1.1.0 abc", "1.0.0 abc")).contains(
                "netty-transport-rdma is of version 1.1.0,", "netty-transport-native-rdma of 1.0.0.",
                "import netty-transport-rdma-bom").doesNotContain("abc");
    }

    @Test
    void snapshotsAreToldApartByTheirBuilds() {
        assertThat(NativeVersion.problem("1.0.0-SNAPSHOT abc", "1.0.0-SNAPSHOT def")).contains(
                "netty-transport-rdma is of version 1.0.0-SNAPSHOT abc,",
                "netty-transport-native-rdma of 1.0.0-SNAPSHOT def.", "of one build");
    }

    @Test
    void libraryOfAnotherVersionIsTold(@TempDir Path classes) throws Exception {
        setVersion(classes, "99.0.0 abc");
        assertThat(causeWith(classes)).contains("UnsatisfiedLinkError", "does not match these classes",
                "netty-transport-rdma is of version 99.0.0,");
    }

    /** The native methods can't be registered, but the message is about the version. */
    @Test
    void libraryWithOtherNativeMethodsIsTold(@TempDir Path classes) throws Exception {
        Path source = classes.resolve("ProviderCheck.java");
        Files.writeString(source, "package io.netty.channel.rdma.verbs; final class ProviderCheck { }");
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, "-proc:none", "-d", classes.toString(),
                source.toString())).isZero();
        setVersion(classes, "99.0.0 abc");
        assertThat(causeWith(classes)).contains("netty-transport-rdma is of version 99.0.0,");
        Files.delete(classes.resolve("META-INF/netty-rdma.version"));
        assertThat(causeWith(classes)).contains("verbs/ProviderCheck can't be registered");
    }
}
