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
import com.sun.net.httpserver.HttpServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.channel.rdma.TestTimeouts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The dashboard for Grafana shows what there is.
 */
class DashboardTest {
    private static final Pattern METRIC = Pattern.compile("(netty_rdma_\\w+)(?:\\{([^}]*)})?");
    private static final Pattern LABEL = Pattern.compile("(\\w+)\\s*(?:=~|!~|!=|=)");
    private static final Pattern GROUPING = Pattern.compile("by \\(([^)]*)\\)");

    private final JsonNode dashboard;

    DashboardTest() throws IOException {
        try (InputStream file = RdmaMeterBinder.class.getResourceAsStream("netty-rdma-dashboard.json")) {
            dashboard = new ObjectMapper().readTree(file);
        }
    }

    @Test
    void panelsHaveTitlesExpressionsAndPlaces() {
        assertThat(dashboard.path("title").asText()).isNotEmpty();
        assertThat(dashboard.path("templating").path("list")).extracting(each -> each.path("name").asText())
                .containsExactly("datasource", "instance");
        Set<Integer> ids = new HashSet<>();
        Set<String> cells = new HashSet<>();
        for (JsonNode panel : dashboard.path("panels")) {
            assertThat(ids.add(panel.path("id").asInt())).isTrue();
            assertThat(panel.path("title").asText()).isNotEmpty();
            JsonNode place = panel.path("gridPos");
            for (int x = place.path("x").asInt(); x < place.path("x").asInt() + place.path("w").asInt(); x++) {
                for (int y = place.path("y").asInt(); y < place.path("y").asInt() + place.path("h").asInt(); y++) {
                    assertThat(x).isBetween(0, 23);
                    assertThat(cells.add(x + "," + y)).as("%s is over another panel", panel.path("title")).isTrue();
                }
            }
            if (!panel.path("type").asText().equals("row")) {
                assertThat(panel.path("description").asText()).isNotEmpty();
                assertThat(panel.path("targets")).isNotEmpty().allSatisfy(target ->
                        assertThat(target.path("legendFormat").asText()).isNotEmpty());
            }
        }
        assertThat(expressions()).hasSizeGreaterThan(20);
    }

    @Test
    void expressionsNameMetricsAndLabelsThatAreScraped() throws Exception {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (Traffic traffic = new Traffic(); RdmaMeterBinder binder = new RdmaMeterBinder()) {
            binder.bindTo(registry);
            traffic.echo();
            Map<String, Set<String>> scraped = labels(registry.scrape());
            for (Map.Entry<String, String> expression : expressions().entrySet()) {
                Matcher metric = METRIC.matcher(expression.getValue());
                boolean found = false;
                while (metric.find()) {
                    found = true;
                    assertThat(scraped).as(expression.getKey()).containsKey(metric.group(1));
                    Set<String> used = new TreeSet<>();
                    add(LABEL.matcher(metric.group(2) == null ? "" : metric.group(2)), used);
                    Matcher grouping = GROUPING.matcher(expression.getValue());
                    while (grouping.find()) {
                        used.addAll(List.of(grouping.group(1).split(", *")));
                    }
                    add(Pattern.compile("\\{\\{(\\w+)}}").matcher(expression.getKey()), used);
                    // Prometheus adds it.
                    used.remove("instance");
                    assertThat(scraped.get(metric.group(1))).as("%s: %s", expression.getKey(), metric.group(1))
                            .containsAll(used);
                }
                assertThat(found).as(expression.getValue()).isTrue();
            }
        }
    }

    /** Prometheus is a package of section metrics (packages.txt). */
    @Test
    void expressionsHaveValuesInPrometheus(@TempDir Path folder) throws Exception {
        assumeTrue(Prometheus.isInstalled(), "the program prometheus is not installed");
        HttpServer server = MetricsExample.start(0);
        try (Traffic traffic = new Traffic();
             Prometheus prometheus = new Prometheus(folder, server.getAddress().getPort())) {
            List<String> missing = new ArrayList<>(expressions().keySet());
            long end = System.nanoTime() + TestTimeouts.SECONDS * 1_000_000_000L;
            while (!missing.isEmpty() && System.nanoTime() - end < 0) {
                traffic.echo();
                for (String panel : List.copyOf(missing)) {
                    if (hasValues(prometheus, expressions().get(panel))) {
                        missing.remove(panel);
                    }
                }
            }
            assertThat(missing).isEmpty();
            // The figures are those of the traffic.
            assertThat(value(prometheus, "Sent, by way: {{way}}", "in_place")).isPositive();
            assertThat(value(prometheus, "Connections: {{provider}} {{device}}", "")).isEqualTo(2);
            assertThat(value(prometheus, "Registered memory: pinned", "")).isPositive();
        } finally {
            server.stop(0);
        }
    }

    private static boolean hasValues(Prometheus prometheus, String expression) {
        try {
            JsonNode series = prometheus.evaluate(concrete(expression));
            for (JsonNode each : series) {
                if (each.path("value").path(1).asText().equals("NaN")) {
                    return false;
                }
            }
            return !series.isEmpty();
        } catch (IOException e) {
            assertThat(e).hasMessageNotContaining("bad_data");
            return false;
        }
    }

    private double value(Prometheus prometheus, String panel, String label) throws Exception {
        double sum = 0;
        for (JsonNode each : prometheus.evaluate(concrete(expressions().get(panel)))) {
            if (label.isEmpty() || each.path("metric").findValuesAsText("way").contains(label)) {
                sum += each.path("value").path(1).asDouble();
            }
        }
        return sum;
    }

    /** Expression with the values that Grafana puts in. */
    private static String concrete(String expression) {
        return expression.replace("$__rate_interval", "5s").replace("$instance", ".*");
    }

    /** By the titles of their panels and their legends. */
    private Map<String, String> expressions() {
        Map<String, String> expressions = new LinkedHashMap<>();
        for (JsonNode panel : dashboard.path("panels")) {
            for (JsonNode target : panel.path("targets")) {
                assertThat(expressions.put(panel.path("title").asText() + ": " +
                        target.path("legendFormat").asText(), target.path("expr").asText())).isNull();
            }
        }
        return expressions;
    }

    private static Map<String, Set<String>> labels(String scrape) {
        Map<String, Set<String>> labels = new LinkedHashMap<>();
        scrape.lines().filter(line -> !line.startsWith("#")).forEach(line -> {
            Matcher series = Pattern.compile("(\\w+)(?:\\{(.*)})? .*").matcher(line);
            assertThat(series.matches()).as(line).isTrue();
            Set<String> names = labels.computeIfAbsent(series.group(1), name -> new TreeSet<>());
            add(LABEL.matcher(series.group(2) == null ? "" : series.group(2)), names);
        });
        return labels;
    }

    private static void add(Matcher matcher, Set<String> names) {
        while (matcher.find()) {
            names.add(matcher.group(1));
        }
    }
}
