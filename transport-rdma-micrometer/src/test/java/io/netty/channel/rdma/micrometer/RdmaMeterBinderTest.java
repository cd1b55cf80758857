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

import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.PageCode;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.metrics.RdmaLoopMetrics;
import org.junit.jupiter.api.Test;

import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

class RdmaMeterBinderTest {
    private static final Path PAGE = Path.of("..", "docs", "metrics.md");

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    @Test
    void pageHasAllMeters() throws Exception {
        try (Traffic traffic = new Traffic(); RdmaMeterBinder binder = new RdmaMeterBinder()) {
            traffic.echo();
            binder.bindTo(registry);
            Map<String, List<Meter>> meters = registry.getMeters().stream()
                    .collect(Collectors.groupingBy(meter -> meter.getId().getName(), TreeMap::new,
                            Collectors.toList()));
            // Only where there is a kernel that counts.
            meters.remove("netty.rdma.port.counter");
            List<String> rows = meters.values().stream().map(this::row).collect(Collectors.toList());

            List<String> page = Files.readAllLines(PAGE);
            assertThat(page.stream().filter(line -> line.startsWith("| `netty.rdma.") &&
                    !line.startsWith("| `netty.rdma.port.counter")))
                    .as("rows should be%n%s", String.join("\n", rows)).containsExactlyElementsOf(rows);
        }
    }

    private String row(List<Meter> meters) {
        Meter.Id id = meters.get(0).getId();
        String name = registry.config().namingConvention().name(id.getName(), id.getType(), id.getBaseUnit());
        String type;
        switch (id.getType()) {
        case COUNTER:
            type = "counter";
            name += name.endsWith("_total") ? "" : "_total";
            break;
        case TIMER:
            type = "count and time";
            name += name.endsWith("_seconds") ? "_count`, `" + name + "_sum" :
                    "_seconds_count`, `" + name + "_seconds_sum";
            break;
        default:
            type = "gauge";
        }
        Map<String, TreeSet<String>> tags = new TreeMap<>();
        meters.forEach(meter -> meter.getId().getTags().forEach(tag ->
                tags.computeIfAbsent(tag.getKey(), key -> new TreeSet<>()).add(tag.getValue())));
        String text = tags.keySet().stream().map(key -> '`' + key + '`' + (List.of("loop", "device", "provider",
                "status").contains(key) ? "" : ": " + String.join(", ", tags.get(key))))
                .collect(Collectors.joining("; "));
        return "| `" + id.getName() + "` | " + type + " | " + (text.isEmpty() ? "" : text + ' ') + "| " +
                id.getDescription() + " | `" + name + "` |";
    }

    @Test
    void figuresOfTrafficAreScraped() throws Exception {
        try (Traffic traffic = new Traffic(); RdmaMeterBinder binder = new RdmaMeterBinder()) {
            binder.bindTo(registry);
            double before = value("netty_rdma_stream_sent_bytes_total{way=\"in_place\"}");
            traffic.echo();

            assertThat(value("netty_rdma_stream_sent_bytes_total{way=\"in_place\"}") - before)
                    .isGreaterThanOrEqualTo(2 * 3_000_000);
            assertThat(value("netty_rdma_stream_copied_bytes_total{cause=\"sent_small\"}")).isPositive();
            assertThat(sum("netty_rdma_connect_failures_total")).isPositive();
            assertThat(sum("netty_rdma_connect_providers_total")).isPositive();
            assertThat(value("netty_rdma_memory_pinned_bytes")).isPositive()
                    .isLessThanOrEqualTo(value("netty_rdma_memory_pinned_max_bytes"));
            assertThat(sum("netty_rdma_loop_completions_total")).isPositive();
            assertThat(sum("netty_rdma_loop_connections")).isEqualTo(2);
            assertThat(sum("netty_rdma_device_connections")).isEqualTo(2);
            assertThat(sum("netty_rdma_device_established_total")).isGreaterThanOrEqualTo(2);
            assertThat(sum("netty_rdma_loop_sleep_seconds_sum")).isPositive();
            // All of it is scraped again and again, and nothing has been collected meanwhile.
            System.gc();
            assertThat(registry.scrape()).doesNotContain("netty_rdma_memory_pinned_bytes NaN");
            assertThat(sum("netty_rdma_loop_connections")).isEqualTo(2);
        }
    }

    private double value(String series) {
        Matcher line = Pattern.compile("(?m)^" + Pattern.quote(series) + " (\\S+)$").matcher(registry.scrape());
        assertThat(line.find()).as(series).isTrue();
        return Double.parseDouble(line.group(1));
    }

    private double sum(String name) {
        Matcher line = Pattern.compile("(?m)^" + name + "\\{[^}]*} (\\S+)$").matcher(registry.scrape());
        double sum = 0;
        while (line.find()) {
            sum += Double.parseDouble(line.group(1));
        }
        return sum;
    }

    @Test
    void metersOfLoopsComeAndGoWithThem() throws Exception {
        SimpleMeterRegistry simple = new SimpleMeterRegistry();
        try (RdmaMeterBinder binder = new RdmaMeterBinder(Tags.of("service", "test"))) {
            binder.bindTo(simple);
            assertThat(simple.find("netty.rdma.loop.sleep").meters()).hasSameSizeAs(RdmaLoopMetrics.all());
            EventLoopGroup group = new RdmaEventLoopGroup(1);
            String name = TestTimeouts.result(group.next().submit(() -> Thread.currentThread().getName()));
            assertThat(simple.find("netty.rdma.loop.sleep").tag("loop", name).tag("service", "test").meters())
                    .hasSize(1);
            TestTimeouts.shutdown(group);
            assertThat(simple.find("netty.rdma.loop.sleep").tag("loop", name).meters()).isEmpty();
            assertThat(simple.getMeters()).isNotEmpty().allMatch(meter ->
                    meter.getId().getTags().contains(Tag.of("service", "test")));
        }
        assertThat(simple.getMeters()).isEmpty();
    }

    @Test
    void codeOfThePageIsTheExample() throws Exception {
        assertThat(PageCode.errors("docs/metrics.md", "", List.of())).isEmpty();
    }

    @Test
    void exampleServesMetrics() throws Exception {
        HttpServer server = MetricsExample.start(0);
        try (Traffic traffic = new Traffic()) {
            traffic.echo();
            try (InputStream answer = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/metrics")
                    .toURL().openStream()) {
                assertThat(new String(answer.readAllBytes(), StandardCharsets.UTF_8))
                        .contains("netty_rdma_stream_sent_bytes_total{way=\"in_place\"}");
            }
        } finally {
            server.stop(0);
        }
    }
}
