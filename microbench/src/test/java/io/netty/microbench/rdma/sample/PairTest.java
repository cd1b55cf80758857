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
package io.netty.microbench.rdma.sample;

import io.netty.microbench.rdma.load.LoadCommands;
import io.netty.microbench.rdma.load.Window;
import io.netty.microbench.rdma.process.Child;
import io.netty.microbench.rdma.process.Control;
import io.netty.microbench.rdma.process.Probe;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class PairTest {
    private static final int WINDOW_MILLIS = 100;
    /** A rest and the windows after it take a tenth of a second here, as their times are made up. */
    private static final int MUCH_MILLIS = 20_000;

    /** Beside loops that never sleep, compilers would not be done before the time is over. */
    @Test
    void loopsRestUntilCompilersHaveDoneTheirWorkAndThenItSettles() throws Exception {
        Sample sample = sample(MUCH_MILLIS);
        assertThat(sample.state()).isEqualTo(Settling.State.SETTLED);
        assertThat(sample.windows()).hasSize(Settling.WINDOWS);
    }

    @Test
    void loopsDoNotRestWhereThatWouldTakeTheTimeOfTheWindows() throws Exception {
        Sample sample = sample(Settling.WINDOWS * WINDOW_MILLIS);
        assertThat(sample.state()).isEqualTo(Settling.State.COMPILING);
        assertThat(sample.seen().compiling()).isEqualTo(1);
    }

    @Test
    void scenarioIsDoneUntilItsFiguresAreNotWrongHoweverShortTheLimit() throws Exception {
        Sample sample = sample(0);
        assertThat(sample.state().hasFigures()).as(sample.state().toString()).isTrue();
        assertThat(sample.windows()).hasSizeGreaterThan(1);
    }

    private static Sample sample(int limitMillis) throws Exception {
        try (Pair pair = Pair.start(children -> {
            children.add(new Child(List.of(), Compiling.class, List.of()));
            children.add(new Child(List.of(), Compiling.class, List.of()));
        })) {
            return pair.sample(0, WINDOW_MILLIS, limitMillis);
        }
    }

    /**
     * A process whose compilers have work, for which they get a core only while its loops rest, and not at once. It
     * ends if its loops have to go on before that is done.
     */
    public static final class Compiling {
        private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(WINDOW_MILLIS);
        private static final int WAITING_PROBES = 3;

        private long nanos;
        private long compilerNanos;
        private long compilerWaitNanos;
        private boolean paused;
        /** Probes for which compilers wait, and go on waiting, while the loops rest; then they have done it all. */
        private int toWait = WAITING_PROBES;

        private Compiling() {
        }

        public static void main(String[] args) throws IOException {
            System.out.println(LoadCommands.SCENARIO + "0 it");
            System.out.println(LoadCommands.READY);
            Compiling process = new Compiling();
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                System.out.println(Control.ANSWER + process.answer(line));
            }
        }

        private String answer(String line) {
            switch (line.split(" ")[0]) {
            case Control.PAUSE:
                paused = true;
                return "paused";
            case Control.RESUME:
                if (toWait > 0) {
                    throw new IllegalStateException("resumed too early");
                }
                paused = false;
                return "resumed";
            case Control.PROBE:
                return probe().toString();
            case LoadCommands.WINDOW:
                Histogram latencies = new Histogram(3);
                latencies.recordValue(1);
                return new Window(STEP_NANOS * Settling.WINDOWS, latencies).toString();
            default:
                return "done";
            }
        }

        private Probe probe() {
            nanos += STEP_NANOS;
            if (toWait > 0 && paused) {
                toWait--;
                compilerWaitNanos += STEP_NANOS;
            } else if (toWait > 0) {
                compilerNanos += STEP_NANOS;
            }
            return new Probe(nanos, 0, compilerNanos, compilerWaitNanos, 0, 0, 0);
        }
    }
}
