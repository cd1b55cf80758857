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

import io.netty.util.Version;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("oldest")
class NettyVersionTest {
    @TempDir
    Path folder;

    /**
     * Adds the properties of a jar of Netty.
     *
     * @param folder that becomes a part of a class path.
     */
    static void addJar(Path folder, String artifact, String version) throws IOException {
        Path file = Files.createDirectories(folder.resolve("META-INF")).resolve("io.netty.versions.properties");
        StringBuilder text = new StringBuilder(Files.exists(file) ? Files.readString(file) : "");
        for (String name : new String[] {"version", "buildDate", "commitDate", "shortCommitHash", "longCommitHash",
                "repoStatus"}) {
            text.append(artifact).append('.').append(name).append('=').append(name.equals("version") ? version : "")
                    .append('\n');
        }
        Files.writeString(file, text);
    }

    private String problem() throws IOException {
        try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, null)) {
            return NettyVersion.problem(loader);
        }
    }

    @Test
    void jarsOfThisRunAreNewEnough() {
        assertThat(NettyVersion.problem()).isNull();
        if ("oldest".equals(System.getProperty("test.variant"))) {
            assertThat(Version.identify().values()).extracting(Version::artifactVersion)
                    .containsOnly(NettyVersion.OLDEST);
        }
    }

    @Test
    void olderJarsAreNamedWithWhatIsNeeded() throws IOException {
        addJar(folder, "netty-common", "4.2.8.Final");
        addJar(folder, "netty-transport", "4.1.118.Final");
        addJar(folder, "netty-buffer", "4.2.8.Final");
        addJar(folder, "netty-transport-classes-epoll", NettyVersion.OLDEST);
        assertThat(problem()).startsWith("Netty 4.1.118.Final (netty-transport) and 4.2.8.Final (").contains(
                "netty-common", "netty-buffer", " is on the class path, the RDMA transport needs " +
                NettyVersion.OLDEST + " or later", "Import netty-bom").doesNotContain("netty-transport-classes-epoll");
    }

    @Test
    void numbersAreComparedAsSuch() throws IOException {
        addJar(folder, "netty-common", "4.3.0.Final-SNAPSHOT");
        addJar(folder, "netty-buffer", "4.2.10.Final");
        addJar(folder, "netty-transport", NettyVersion.OLDEST);
        assertThat(problem()).isNull();
    }

    @Test
    void olderJarBelowANewerOneIsNamedWithIt() throws IOException {
        addJar(folder, "netty-common", "4.2.17.Final");
        addJar(folder, "netty-transport", "4.2.10.Final");
        addJar(folder, "netty-transport-classes-epoll", "4.2.17.Final");
        assertThat(problem()).startsWith("netty-transport 4.2.10.Final is on the class path with " +
                "netty-transport-classes-epoll 4.2.17.Final").contains("Import netty-bom");
    }

    @Test
    void whatTheTransportDoesNotUseMayBeOlder() throws IOException {
        addJar(folder, "netty-codec-smtp", "4.1.0.Final");
        addJar(folder, "netty-common", "of-a-company");
        assertThat(problem()).isNull();
    }
}
