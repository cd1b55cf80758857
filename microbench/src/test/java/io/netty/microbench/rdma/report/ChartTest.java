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
package io.netty.microbench.rdma.report;

import io.netty.example.rdma.util.Measurement;
import io.netty.example.rdma.util.Measurement.Unit;
import io.netty.microbench.rdma.sample.Sample;
import io.netty.microbench.rdma.sample.Settling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class ChartTest {
    private static final Terminal ASCII = new Terminal(false, 60, false, false);
    private static final Terminal UNICODE = new Terminal(true, 60, true, false);

    private final Results results = new Results();

    @TempDir
    private Path folder;

    @Test
    void barIsAsLongAsTheRateAndTellsTheRatio() {
        add("rdma", 200, Settling.State.SETTLED);
        add("epoll", 100, Settling.State.SETTLED);
        String bar = "#".repeat(60 - "  epoll ".length() - " 200/s 2.0 x".length());
        assertThat(draw(ASCII)).containsExactly(
                "it: per second, more is better; x: times better than epoll",
                "",
                "plaintext",
                "  rdma  " + bar + " 200/s 2.0 x",
                "  epoll " + bar.substring(bar.length() / 2) + " ".repeat(bar.length() / 2) + " 100/s 1.0 x");
    }

    @Test
    void barHasEighthsOfCharacters() {
        add("rdma", 320, Settling.State.SETTLED);
        add("epoll", 100, Settling.State.SETTLED);
        // 40 characters for 320 are 12.5 for 100.
        assertThat(draw(UNICODE).get(3)).contains(" " + "\u2588".repeat(40) + " 320/s");
        assertThat(draw(UNICODE).get(4)).contains(" " + "\u2588".repeat(12) + "\u258c ");
    }

    @Test
    void barIsSeenHoweverShortItIs() {
        add("rdma", 1_000_000, Settling.State.SETTLED);
        add("epoll", 1, Settling.State.SETTLED);
        assertThat(draw(ASCII).get(4)).startsWith("  epoll # ");
        assertThat(draw(UNICODE).get(4)).startsWith("  epoll \u258f ");
    }

    @Test
    void linesAreAsLongAsTheTerminalIsWide() {
        add("rdma polling", 123_456, Settling.State.SETTLED);
        add("epoll", 99, Settling.State.SETTLED);
        for (int columns : new int[] {60, 80, 133}) {
            assertThat(draw(new Terminal(true, columns, true, false)).subList(3, 5))
                    .allSatisfy(line -> assertThat(line).hasSize(columns));
        }
    }

    @Test
    void rowWithoutAFigureSaysWhy() {
        add("rdma", 200, Settling.State.YOUNG);
        add("epoll", 100, Settling.State.SETTLED);
        assertThat(draw(ASCII).get(3)).isEqualTo("  rdma  not settled: too short");
    }

    @Test
    void rowThatDidNotSettleHasABarAndAMark() {
        add("rdma", 200, Settling.State.COMPILING);
        add("epoll", 100, Settling.State.SETTLED);
        assertThat(draw(ASCII).get(0)).endsWith("; ?: had not settled");
        assertThat(draw(ASCII).get(3)).endsWith("### 200/s ? 2.0 x");
        assertThat(draw(ASCII).get(4)).endsWith(" 100/s   1.0 x");
    }

    @Test
    void whatDidNotSettleIsTheBaseOfRatiosToo() {
        add("rdma", 200, Settling.State.SETTLED);
        add("epoll", 100, Settling.State.UNSTEADY);
        assertThat(draw(ASCII).get(3)).endsWith("# 200/s   2.0 x");
    }

    @Test
    void nothingIsComparedWithWhatHasNoFigure() {
        add("rdma", 200, Settling.State.SETTLED);
        add("epoll", 100, Settling.State.YOUNG);
        assertThat(draw(ASCII).get(3)).endsWith("# 200/s").doesNotContain(" x");
    }

    @Test
    void firstIsTheBaseWhereEpollIsNot() {
        add("nio", 200, Settling.State.SETTLED);
        assertThat(draw(ASCII).get(0)).endsWith("times better than nio");
    }

    @Test
    void onlyTerminalsGetColours() {
        add("rdma", 200, Settling.State.SETTLED);
        assertThat(String.join("\n", draw(ASCII)) + String.join("\n", draw(UNICODE))).doesNotContain("\u001b");
        assertThat(draw(new Terminal(true, 60, true, true)).get(3)).contains("\u001b[34m", "\u001b[39m");
    }

    @Test
    void environmentTellsWhatATerminalCan() {
        Map<String, String> xterm = Map.of("TERM", "xterm", "COLUMNS", "120");
        assertThat(Terminal.of(true, xterm, StandardCharsets.UTF_8)).isEqualTo(new Terminal(true, 120, true, true));
        assertThat(Terminal.of(true, xterm, StandardCharsets.US_ASCII).isUnicode()).isFalse();
        assertThat(Terminal.of(true, xterm, StandardCharsets.ISO_8859_1).isUnicode()).isFalse();
        assertThat(Terminal.of(false, xterm, StandardCharsets.UTF_8).isColoured()).isFalse();
        assertThat(Terminal.of(true, Map.of("TERM", "xterm", "NO_COLOR", "1"), StandardCharsets.UTF_8).isColoured())
                .isFalse();
        assertThat(Terminal.of(true, Map.of("TERM", "dumb"), StandardCharsets.UTF_8).isColoured()).isFalse();
        assertThat(Terminal.of(true, Map.of("COLUMNS", "wide"), StandardCharsets.UTF_8).columns()).isEqualTo(80);
    }

    @Test
    void plotIsAFileWithoutLettersOfAFont() throws Exception {
        add("rdma", 200, Settling.State.SETTLED);
        add("rdma polling", 300, Settling.State.COMPILING);
        add("epoll", 100, Settling.State.SETTLED);
        Path file = folder.resolve("it.svg");
        BarPlot.ofRatios(chart()).write(file);
        assertThat(Files.readString(file)).contains("<svg").doesNotContain("<text").doesNotContainPattern("\\.\\d\\d");
    }

    @Test
    void plotCanDoWithoutAnyFigure() throws Exception {
        add("rdma", 200, Settling.State.YOUNG);
        Path file = folder.resolve("it.svg");
        BarPlot.ofRatios(chart()).write(file);
        assertThat(file).isNotEmptyFile();
    }

    private void add(String who, long perSecond, Settling.State state) {
        Measurement measurement = new Measurement("plaintext", 1, perSecond, Unit.OPERATIONS, 1, 1, 1);
        results.add(who, new Sample(measurement, new Settling.Seen(state, 0, 0), List.of(measurement)));
    }

    private Chart chart() {
        return Chart.ofRates("it", results, results.subjects(), "epoll");
    }

    private List<String> draw(Terminal terminal) {
        return new TerminalChart(chart(), terminal).draw().lines().toList();
    }
}
