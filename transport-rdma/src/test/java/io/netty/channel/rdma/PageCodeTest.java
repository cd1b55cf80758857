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

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The Java code of the README and of the pages of docs/ compiles. The pages of an adapter are tested in its module.
 */
@Tag("quick")
class PageCodeTest {
    private static final Set<String> ADAPTERS =
            Set.of("docs/grpc.md", "docs/metrics.md", "docs/reactor-netty.md", "docs/vertx.md");
    private static final List<String> PACKAGES = List.of("io.netty.bootstrap", "io.netty.channel",
            "io.netty.channel.epoll", "io.netty.channel.rdma", "io.netty.channel.rdma.ortcp",
            "io.netty.channel.rdma.message", "io.netty.channel.rdma.metrics", "io.netty.channel.rdma.verbs",
            "java.time", "java.util");
    private static final String DECLARATIONS = """
            static class EchoServerHandler extends ChannelInboundHandlerAdapter { }
            static class MyClientHandler extends ChannelInboundHandlerAdapter { }
            Bootstrap bootstrap;
            RdmaMessageChannel channel;
            org.slf4j.Logger log;
            """;

    static Stream<String> pages() throws IOException {
        return PageCode.pages().filter(page -> !ADAPTERS.contains(page));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void codeCompiles(String page) throws IOException {
        assertThat(PageCode.errors(page, DECLARATIONS, PACKAGES)).isEmpty();
    }

    @Test
    void errorsAreFoundAtTheLineOfThePage(@TempDir Path folder) throws IOException {
        Path page = Files.writeString(folder.resolve("page.md"), """
                # Title

                ```java
                Rdma.isAvailable();
                Rdma.isAvialable();
                ```

                ```java
                public class Program {
                    Strin text;
                }
                ```

                ```diff
                -Object old = new Old();
                +Object now = Rdma.class;
                ```

                <!-- code of run-tests.sh -->
                ```java
                class Example { }
                ```
                """);
        assertThat(PageCode.errors(page.toAbsolutePath().toString(), "", PACKAGES)
                .stream().map(error -> error.replaceFirst("^.*page.md:(\\d+): ", "$1 ").replaceFirst("(?s)\n.*", "")))
                .containsExactlyInAnyOrder("5 cannot find symbol", "10 cannot find symbol", "15 cannot find symbol",
                        "21 not the code of run-tests.sh");
    }
}
