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
package io.netty.channel.rdma.reactor;

import io.netty.channel.rdma.PageCode;
import io.netty.channel.rdma.reactor.example.HelloHttp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.netty.ReactorNetty;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * docs/reactor-netty.md: its programs are those that the tests run, and its versions those that they run with.
 */
@Tag("oldest")
class DocumentationTest {
    private static final Path PAGE = Path.of("../docs/reactor-netty.md");

    @Test
    void codeOfThePageCompiles() throws IOException {
        assertThat(PageCode.errors("docs/reactor-netty.md", "SocketAcceptor acceptor; String host;",
                List.of("io.netty.channel.rdma.ortcp", "io.netty.channel.rdma.reactor", "io.rsocket",
                        "io.rsocket.core", "io.rsocket.transport.netty.client", "io.rsocket.transport.netty.server",
                        "java.time", "reactor.netty.resources", "reactor.netty.tcp"))).isEmpty();
    }

    @Test
    void theProgramRuns() {
        PrintStream console = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            HelloHttp.main(new String[0]);
        } finally {
            System.setOut(console);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8)).contains("Hello!");
    }

    @Test
    void theVersionThatIsTestedIsOneOfThoseThatAreNamed() throws IOException {
        String version = ReactorNetty.class.getPackage().getImplementationVersion();
        Matcher range = Pattern.compile("\\| Reactor Netty \\| (\\S+) to (\\S+) \\|").matcher(Files.readString(PAGE));
        assertThat(range.find()).isTrue();
        // run-tests.sh runs the tests once more with the jars of target/oldest.
        assertThat(version).isEqualTo(range.group("oldest".equals(System.getProperty("test.variant")) ? 1 : 2));
    }
}
