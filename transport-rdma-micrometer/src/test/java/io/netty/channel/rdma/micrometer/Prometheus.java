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
package io.netty.channel.rdma.micrometer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.netty.channel.rdma.TestTimeouts;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The program prometheus, which scrapes this process twice a second.
 */
final class Prometheus implements AutoCloseable {
    private static final Pattern READY = Pattern.compile("msg=\"Listening on\" address=127\\.0\\.0\\.1:(\\d+)");

    private final Process process;
    private final String query;

    static boolean isInstalled() {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "prometheus")));
    }

    /** @param port where this process serves its metrics. */
    Prometheus(Path folder, int port) throws IOException {
        Path settings = Files.writeString(folder.resolve("prometheus.yml"), "global:\n  scrape_interval: 500ms\n" +
                "scrape_configs:\n  - job_name: test\n    static_configs:\n      - targets: ['127.0.0.1:" + port +
                "']\n");
        process = new ProcessBuilder("prometheus", "--config.file=" + settings, "--storage.tsdb.path=" +
                folder.resolve("data"), "--web.listen-address=127.0.0.1:0").redirectErrorStream(true).start();
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        StringBuilder seen = new StringBuilder();
        for (String line; (line = output.readLine()) != null;) {
            Matcher ready = READY.matcher(line);
            if (ready.find()) {
                query = "http://127.0.0.1:" + ready.group(1) + "/api/v1/query?query=";
                Thread reader = new Thread(() -> output.lines().forEach(rest -> { }), "output of prometheus");
                reader.setDaemon(true);
                reader.start();
                return;
            }
            seen.append(line).append('\n');
        }
        throw new IOException("prometheus does not start:\n" + seen);
    }

    /** The series that an expression has now. */
    JsonNode evaluate(String expression) throws IOException {
        HttpURLConnection request = (HttpURLConnection) URI.create(query +
                URLEncoder.encode(expression, StandardCharsets.UTF_8)).toURL().openConnection();
        request.setReadTimeout((int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS));
        if (request.getResponseCode() != HttpURLConnection.HTTP_OK) {
            try (InputStream error = request.getErrorStream()) {
                // Prometheus starts, or the expression is wrong.
                throw new IOException(expression + ": " + new String(error.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        try (InputStream answer = request.getInputStream()) {
            return new ObjectMapper().readTree(answer).path("data").path("result");
        }
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(TestTimeouts.SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
