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
import io.netty.channel.rdma.verbs.ChildJvm;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpVersion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
class VersionsTest {
    /** Chosen by the builder and by the property: HTTP/1.1 and HTTP/2, and what is left of the memory. */
    static final class Program {
        private Program() { }

        public static void main(String[] arguments) throws Exception {
            exchange(Vertxes.RDMA.start());
            System.setProperty(RdmaTransport.PROPERTY, "rdma");
            exchange(Vertx.vertx());
            assertThat(RdmaMetrics.total().bytesReceivedInPlace()).isGreaterThan(2_000_000);
            TestTimeouts.awaitTrue(() -> RdmaMetrics.total().receiveMemory() == 0);
            System.out.println("Vert.x " + version() + " is on RDMA");
        }

        private static void exchange(Vertx vertx) throws Exception {
            HttpServer server = await(vertx.createHttpServer()
                    .requestHandler(request -> request.body().onSuccess(request.response()::end))
                    .listen(0, TestAddress.HOST));
            for (HttpVersion version : List.of(HttpVersion.HTTP_1_1, HttpVersion.HTTP_2)) {
                HttpClientAgent client = vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(version));
                Future<Buffer> body = client.request(HttpMethod.POST, server.actualPort(), TestAddress.HOST, "/")
                        .compose(request -> request.send(bytes(700_000)).compose(HttpClientResponse::body));
                assertThat(await(body)).isEqualTo(bytes(700_000));
                await(client.close());
            }
            await(vertx.close());
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
            Vertx chosen = Vertx.builder().withTransport(RdmaTransport.rdma()).build();
            System.setProperty(RdmaTransport.PROPERTY, "rdma");
            Vertx byProperty = Vertx.vertx();
            System.out.println("native " + chosen.isNativeTransportEnabled() + ' ' +
                    byProperty.isNativeTransportEnabled());
            await(chosen.close());
            await(byProperty.close());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = { "5.0.0", "5.0.12" })
    void theEndsOfTheRangeWork(String version) throws Exception {
        assertThat(Files.readString(Path.of("../docs/vertx.md"))).contains("| 5.0.0 to 5.0.12 | supported");
        assertThat(run(Program.class, version)).contains("Vert.x " + version + " is on RDMA");
    }

    @Test
    void aLaterVersionIsRefused() throws Exception {
        assertThat(run(Refused.class, "5.1.2")).contains("native false false",
                "RDMA is not available, and Vert.x takes NIO instead: ", "is for Vert.x 5.0: ");
    }

    private static String run(Class<?> main, String version) throws Exception {
        List<String> path = new ArrayList<>(List.of("target/vertx/vertx-core-" + version + ".jar"));
        path.addAll(Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(element -> !element.matches(".*/vertx-core-[0-9][^/]*\\.jar")).collect(Collectors.toList()));
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-Xmx128m",
                "-Dio.netty.rdma.test.address=" + TestAddress.HOST,
                "-Dtest.timeout.multiplier=" + TestTimeouts.MULTIPLIER,
                "-Dio.netty.rdma.provider=" + System.getProperty("io.netty.rdma.provider", "auto")));
        command.addAll(ChildJvm.SHORT_LIVED);
        command.addAll(List.of("-cp", String.join(File.pathSeparator, path), main.getName()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }
}
