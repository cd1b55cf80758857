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
package io.netty.example.rdma.http2;

import io.netty.example.rdma.util.InstalledProgram;
import io.netty.example.rdma.util.TestCertificate;
import io.netty.example.rdma.util.TlsEngine;
import io.netty.example.rdma.util.Transport;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Programs that know nothing of RDMA, by TCP, at the port of a server that was started for RDMA.
 */
@Tag("platforms")
@Timeout(120)
class Http2ProgramsTest {
    private static final int LENGTH = 10_000_000;

    @TempDir
    static Path folder;
    private static Path upload;
    private static Http2Pair plain;

    @BeforeAll
    static void startServer() throws Exception {
        byte[] content = new byte[LENGTH];
        new SplittableRandom(1).nextBytes(content);
        upload = Files.write(folder.resolve("upload"), content);
        plain = new Http2Pair(Transport.RDMA);
    }

    @AfterAll
    static void stopServer() {
        plain.close();
    }

    @ParameterizedTest
    @CsvSource({"--http2, 2", "--http2-prior-knowledge, 2", "--http1.1, 1.1"})
    void curlGets(String option, String version) throws Exception {
        Path result = folder.resolve("result");
        assertThat(curl(option, "-o", result.toString(), "-w", "%{http_version} %{http_code} %{size_download}",
                url("http", plain) + "/bytes/" + LENGTH)).isEqualTo(version + " 200 " + LENGTH);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--http2", "--http2-prior-knowledge", "--http1.1"})
    void curlPostsAndGetsItBack(String option) throws Exception {
        Path result = folder.resolve("result");
        curl(option, "--data-binary", "@" + upload, "-o", result.toString(), url("http", plain) + "/echo");
        assertThat(Files.mismatch(result, upload)).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource
    void curlNegotiatesHttp2WithTls(TlsEngine engine) throws Exception {
        TestCertificate certificate = new TestCertificate(Http2Pair.HOST);
        Path trusted = Files.writeString(folder.resolve("certificate.pem"), certificate.pem());
        SslContext server = Http2Tls.configure(certificate.server(engine, "TLSv1.3"),
                ApplicationProtocolNames.HTTP_2, ApplicationProtocolNames.HTTP_1_1);
        Path result = folder.resolve("result");
        try (Http2Pair pair = new Http2Pair(Transport.RDMA, server, null)) {
            for (String version : new String[] {"2", "1.1"}) {
                assertThat(curl("--cacert", trusted.toString(), "--http" + version, "--data-binary", "@" + upload,
                        "-o", result.toString(), "-w", "%{http_version}", url("https", pair) + "/echo"))
                        .isEqualTo(version);
                assertThat(Files.mismatch(result, upload)).isEqualTo(-1);
            }
        }
    }

    @Test
    void h2loadGetsAnAnswerToEachRequest() throws Exception {
        String log = InstalledProgram.run("h2load", "nghttp2-client", "-n", "2000", "-c", "4", "-m", "50",
                url("http", plain) + "/bytes/10000");
        assertThat(log).contains("2000 succeeded, 0 failed").contains("status codes: 2000 2xx");
    }

    private static String url(String scheme, Http2Pair pair) {
        return scheme + "://" + Http2Pair.HOST + ':' + pair.address().getPort();
    }

    private static String curl(String... arguments) throws Exception {
        List<String> all = new ArrayList<>(List.of("--fail"));
        all.addAll(List.of(arguments));
        return InstalledProgram.curl(all.toArray(new String[0]));
    }
}
