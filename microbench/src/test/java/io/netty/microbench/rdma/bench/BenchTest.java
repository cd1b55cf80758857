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
package io.netty.microbench.rdma.bench;

import io.netty.example.rdma.util.Commands;
import io.netty.microbench.rdma.bench.BenchResults.Missing;
import io.netty.microbench.rdma.report.Figure;
import io.netty.microbench.rdma.report.Reading;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The parts of {@code run-bench.sh}, as processes. The limit alone runs by default, as it takes no JVMs.
 */
@Timeout(300)
class BenchTest {
    private static final Path LIMIT = Path.of("..", "transport-rdma-native", "target", "c", "shm_limit");
    private static final Path PRELOAD = LIMIT.resolveSibling("librdma_embedded.so");

    @TempDir
    private Path folder;

    private int bench(String... arguments) {
        return bench(folder, arguments);
    }

    private static int bench(Path output, String... arguments) {
        List<String> all = new ArrayList<>(List.of("--limit-program", LIMIT.toString(), "--noise-program",
                NoiseProgramTest.PROGRAM.toString(), "--output", output.toString()));
        all.addAll(List.of(arguments));
        return Commands.run(new Bench(), all.toArray(new String[0]));
    }

    private BenchResults written() throws Exception {
        return BenchResults.read(folder.resolve("results.json"));
    }

    private static List<String> scenarios(BenchResults results, String subject) {
        return results.readings().stream().filter(reading -> reading.subject().equals(subject))
                .map(Reading::scenario).distinct().toList();
    }

    @Test
    void limitIsMeasuredAndItsTablesAreMadeAgain() throws Exception {
        assertThat(bench("--quick", "--only", "limit")).isZero();
        assertThat(scenarios(written(), Goal.LIMIT)).contains("round trips of 64 B", "round trips of 1 MiB",
                "a stream of writes of 64 KiB", "memcpy of 1 MiB", "wake-ups there and back on one core");
        assertThat(written().readings()).allMatch(reading -> reading.value() > 0);
        assertThat(folder.resolve("round-trips.svg")).exists();
        Path again = folder.resolve("again");
        assertThat(bench(again, "--from", folder.resolve("results.json").toString())).isZero();
        assertThat(again.resolve("results.md")).hasSameBinaryContentAs(folder.resolve("results.md"));
    }

    @Test
    @Tag("all")
    void messagesAndIdleConnectionsAreMeasured() throws Exception {
        assertThat(bench("--quick", "--only", "messages,idle", "--transports", "rdma")).isZero();
        assertThat(scenarios(written(), "rdma")).contains(Section.messages(1), Section.messages(1024),
                Section.roundTripsBeside(1000), Section.IDLE, Section.AFTER_BURST);
        for (Figure memory : List.of(Figure.SERVER_MEMORY, Figure.CLIENT_MEMORY)) {
            assertThat(written().results().spread("rdma", Section.roundTripsBeside(1000), memory).median())
                    .isPositive();
        }
    }

    @Test
    @Tag("all")
    void connectionsAreMeasuredColdAndWarm() throws Exception {
        assertThat(bench("--quick", "--only", "setup", "--transports", "rdma")).isZero();
        assertThat(scenarios(written(), "rdma")).containsExactly(Section.cold(1), Section.cold(2),
                Section.shortConnections(1), Section.shortConnections(16), Section.KEPT_OPEN);
    }

    @Test
    @Tag("all")
    void roundTripsBesideBusyProcessesAreMeasuredOfLoopsThatPollAndThatSleep() throws Exception {
        assertThat(bench("--quick", "--only", "busy", "--transports", "rdma,epoll,nio")).isZero();
        for (String subject : List.of("rdma", "rdma sleeping", "epoll")) {
            assertThat(scenarios(written(), subject)).containsExactly(Section.BUSY);
        }
        assertThat(written().readings()).noneMatch(reading -> reading.subject().equals("nio"));
        assertThat(ProcessHandle.current().children().filter(ProcessHandle::isAlive)).isEmpty();
    }

    @Test
    @Tag("all")
    void pacedMessagesAreMeasuredAtTheRatesAndOnTheConnectionsThatWereChosen() throws Exception {
        assertThat(bench("--quick", "--only", "paced", "--transports", "rdma,epoll,nio", "--rates", "1000,10000",
                "--connections", "16")).isZero();
        for (String subject : List.of("rdma", "rdma sleeping", "epoll")) {
            assertThat(scenarios(written(), subject)).containsExactly(Section.paced(1000, 16),
                    Section.paced(10_000, 16));
        }
        for (Figure figure : List.of(Figure.P50, Figure.P99, Figure.P999, Figure.OPERATIONS, Figure.LATENESS_P99,
                Figure.CLIENT_CPU, Figure.SERVER_CPU)) {
            assertThat(written().readings().stream().filter(reading -> reading.figure() == figure)).hasSize(6)
                    .allMatch(reading -> reading.value() > 0);
        }
    }

    @Test
    @Tag("all")
    void roundTripsStreamsAndHttpAreMeasuredUnderNoise() throws Exception {
        assertThat(bench("--quick", "--only", "noise", "--transports", "rdma,nio")).isZero();
        assertThat(scenarios(written(), "rdma")).containsExactly(
                "round trips of 64 B under noise of 5 %", "a stream of writes of 64 KiB under noise of 5 %",
                "round trips of 64 B under noise of 20 %", "a stream of writes of 64 KiB under noise of 20 %",
                "plaintext, 1 connection under noise of 5 %", "plaintext, 1 connection under noise of 20 %");
        assertThat(written().readings()).noneMatch(reading -> reading.subject().equals("nio"));
        assertThat(ProcessHandle.current().children().filter(ProcessHandle::isAlive)).isEmpty();
    }

    @Test
    void oneEventLoopAtEachEndIsMeasuredWhereItIsAskedForAlone() throws Exception {
        assertThat(bench("--quick", "--scale", "--loops", "1", "--pin", "--transports", "rdma")).isZero();
        assertThat(scenarios(written(), "rdma")).containsExactly(Section.scaleMessages(1), Section.scaleStreams(1),
                Section.scaleShort(1), Section.scaleMany(1));
        assertThat(written().missing()).isEmpty();
        assertThat(folder.resolve("scale-streams.svg")).exists();
    }

    @Test
    void eventLoopsThatWouldShareCoresAreNotMeasured() throws Exception {
        assertThat(bench("--quick", "--scale", "--loops", "56", "--transports", "rdma")).isZero();
        assertThat(written().readings()).isEmpty();
        assertThat(written().missing()).singleElement().extracting(Missing::why).asString()
                .isEqualTo("56 event loops at each end need 112 cores, and there are "
                        + Runtime.getRuntime().availableProcessors());
    }

    @Test
    void rateThatIsNotOfTheScaleIsRefused() {
        assertThat(bench("--only", "paced", "--rates", "1000,1234")).isEqualTo(2);
        assertThat(bench("--only", "paced", "--connections", "2")).isEqualTo(2);
        assertThat(bench("--scale", "--loops", "3")).isEqualTo(2);
        assertThat(folder.resolve("results.json")).doesNotExist();
    }

    @Test
    @Tag("all")
    void wireIsMeasured() throws Exception {
        assertThat(bench("--quick", "--only", "wire", "--transports", "rdma")).isZero();
        assertThat(scenarios(written(), "rdma")).containsExactly("round trips over the wire of 64 B",
                "round trips over the wire of 4 KiB", "round trips over the wire of 64 KiB",
                "a stream over the wire of writes of 64 KiB", "a stream over the wire of writes of 1 MiB");
        assertThat(folder.resolve("results.md")).content().doesNotContain("## Round trips\n");
    }

    @Test
    @Tag("all")
    void programsAreMeasuredBesideTheWireOrSayWhyNot() throws Exception {
        int status = bench("--quick", "--only", "programs", "--preload", PRELOAD.toString());
        if (written().missing().isEmpty()) {
            assertThat(status).isZero();
            assertThat(scenarios(written(), WirePrograms.RSTREAM)).hasSize(5);
            assertThat(scenarios(written(), "ib_write_lat")).hasSize(3);
            assertThat(scenarios(written(), "ib_send_bw")).hasSize(2);
            assertThat(written().readings()).allMatch(reading -> reading.value() > 0);
            assertThat(folder.resolve("wire-streams.svg")).exists();
        } else {
            assertThat(written().missing()).singleElement().extracting(Missing::why).asString()
                    .containsAnyOf("is not installed", "Cannot run program");
        }
    }

    @Test
    void whatCannotBeMeasuredSaysWhy() throws Exception {
        assertThat(bench("--quick", "--only", "grpc", "--transports", "unix")).isZero();
        assertThat(written().readings()).isEmpty();
        assertThat(written().missing()).singleElement().extracting(Missing::part, Missing::subject)
                .containsExactly("grpc", "unix");
    }

    @Test
    void partThatFailsIsNotSilent() throws Exception {
        assertThat(bench("--quick", "--only", "http", "--transports", "nio", "--host", "no such host")).isOne();
        assertThat(written().missing()).singleElement().extracting(Missing::part, Missing::subject)
                .containsExactly("http", "nio");
    }
}
