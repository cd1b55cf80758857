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
package io.netty.channel.rdma.vertx;

import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpVersion;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import static io.netty.channel.rdma.vertx.Vertxes.await;
import static io.netty.channel.rdma.vertx.Vertxes.bytes;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The ends of the range of versions of Vert.x that docs/vertx.md states, and one behind it, each in a JVM of its own.
 * Maven puts them into {@code target/vertx}.
 */
@Timeout(240)
class VersionsTest {
    /** Chosen by the builder and by the property: HTTP/1.1 and HTTP/2, and what is left of the memory. */
    static final class Program {
        private Program() { }

        public static void main(String[] arguments) throws Exception {
            Vertx vertx = System.getProperty(RdmaTransport.PROPERTY) == null ? Vertxes.RDMA.start() : Vertx.vertx();
            HttpServer server = await(vertx.createHttpServer()
                    .requestHandler(request -> request.body().onSuccess(request.response()::end))
                    .listen(0, TestAddress.HOST));
            for (HttpVersion version : List.of(HttpVersion.HTTP_1_1, HttpVersion.HTTP_2)) {
                Future<Buffer> body = vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(version))
                        .request(HttpMethod.POST, server.actualPort(), TestAddress.HOST, "/")
                        .compose(request -> request.send(bytes(500_000))).compose(HttpClientResponse::body);
                assertThat(await(body)).isEqualTo(bytes(500_000));
            }
            assertThat(RdmaMetrics.total().bytesReceivedInPlace()).isGreaterThan(1_000_000);
            await(vertx.close());
            TestTimeouts.awaitTrue(() -> RdmaMetrics.total().receiveMemory() == 0);
            System.out.println("Vert.x " + version() + " is on RDMA");
        }
    }

    /** The version of the library that is on the class path. */
    private static String version() throws IOException {
        try (InputStream in = Vertx.class.getResourceAsStream("/META-INF/vertx/vertx-version.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    /** Prints what is said of a version that is not supported. */
    static final class Refused {
        private Refused() { }

        public static void main(String[] arguments) throws Exception {
            Vertx vertx = System.getProperty(RdmaTransport.PROPERTY) == null ?
                    Vertx.builder().withTransport(RdmaTransport.rdma()).build() : Vertx.vertx();
            System.out.println("native " + vertx.isNativeTransportEnabled());
            await(vertx.close());
        }
    }

    @ParameterizedTest
    @CsvSource({ "5.0.0, ", "5.0.0, rdma", "5.0.12, ", "5.0.12, rdma" })
    void theEndsOfTheRangeWork(String version, String property) throws Exception {
        assertThat(page()).contains("| 5.0.0 to 5.0.12 | supported");
        assertThat(run(Program.class, version, property)).contains("Vert.x " + version + " is on RDMA");
    }

    @ParameterizedTest
    @ValueSource(strings = { "", "rdma" })
    void aLaterVersionIsRefused(String property) throws Exception {
        assertThat(run(Refused.class, "5.1.2", property.isEmpty() ? null : property)).contains("native false",
                "RDMA is not available, and Vert.x takes NIO instead: ", "is for Vert.x 5.0: ");
    }

    private static String page() throws IOException {
        return Files.readString(Path.of("../docs/vertx.md"));
    }

    private static String run(Class<?> main, String version, String property) throws Exception {
        List<String> path = new ArrayList<>(List.of("target/vertx/vertx-core-" + version + ".jar"));
        path.addAll(Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(element -> !element.matches(".*/vertx-core-[0-9][^/]*\\.jar")).collect(Collectors.toList()));
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-Xmx128m",
                "-Dio.netty.rdma.test.address=" + TestAddress.HOST,
                "-Dtest.timeout.multiplier=" + TestTimeouts.MULTIPLIER,
                "-Dio.netty.rdma.provider=" + System.getProperty("io.netty.rdma.provider", "auto")));
        if (property != null) {
            command.add("-D" + RdmaTransport.PROPERTY + '=' + property);
        }
        command.addAll(List.of("-cp", String.join(File.pathSeparator, path), main.getName()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }
}
