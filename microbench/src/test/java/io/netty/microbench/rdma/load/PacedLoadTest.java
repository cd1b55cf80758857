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
package io.netty.microbench.rdma.load;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Operations that are due each millisecond, on an event loop whose time goes on when the test says so. */
class PacedLoadTest {
    private static final int PER_SECOND = 1000;
    private static final int MANY = 100;

    private final MockTicker ticker = Ticker.newMockTicker();
    private final EmbeddedChannel channel = EmbeddedChannel.builder().ticker(ticker).build();
    private final Queue<Scenario.Completion> underWay = new ArrayDeque<>();

    @AfterEach
    void closeChannel() {
        channel.finishAndReleaseAll();
    }

    private Load start(int maxInFlight) {
        Load load = Load.start(channel.eventLoop(), Scenario.paced("it", PER_SECOND, maxInFlight, underWay::add));
        channel.runPendingTasks();
        return load;
    }

    /** The event loop has nothing to do, or is away, for so long, and then does what is due. */
    private void pass(int millis) {
        ticker.advanceMillis(millis);
        channel.runPendingTasks();
    }

    private Future<Window> window(Load load, int millis) {
        Future<Window> window = load.window(TimeUnit.MILLISECONDS.toNanos(millis));
        channel.runPendingTasks();
        return window;
    }

    private void endAll() {
        while (!underWay.isEmpty()) {
            underWay.remove().ended(null);
        }
    }

    private static void assertMillis(Histogram histogram, int count, int min, int max) {
        assertThat(histogram.getTotalCount()).isEqualTo(count);
        assertThat(histogram.valuesAreEquivalent(histogram.getMinValue(), TimeUnit.MILLISECONDS.toNanos(min))).isTrue();
        assertThat(histogram.valuesAreEquivalent(histogram.getMaxValue(), TimeUnit.MILLISECONDS.toNanos(max))).isTrue();
    }

    @Test
    void operationsStartWhenTheyAreDueWhetherOthersHaveEndedOrNot() {
        start(MANY);
        assertThat(underWay).hasSize(1);
        pass(1);
        assertThat(underWay).hasSize(2);
        endAll();
        assertThat(underWay).as("none starts because others have ended").isEmpty();
        pass(1);
        assertThat(underWay).hasSize(1);
    }

    /** Operations that were due while the loop was away still count, and their latency has begun. */
    @Test
    void latencyBeginsWhenAnOperationWasDue() throws Exception {
        Load load = start(MANY);
        Future<Window> asked = window(load, 6);
        endAll();
        pass(5);
        assertThat(underWay).hasSize(5);
        endAll();
        pass(1);
        endAll();
        Window window = TestTimeouts.result(asked);
        assertMillis(window.latencies(), 6, 0, 4);
        assertMillis(window.lateness(), 6, 0, 4);
        assertThat(window.rate()).isEqualTo(PER_SECOND);
    }

    @Test
    void latenessIsThePartOfLatencyBeforeTheStart() throws Exception {
        Load load = start(MANY);
        Future<Window> asked = window(load, 10);
        endAll();
        pass(1);
        pass(1);
        ticker.advanceMillis(8);
        endAll();
        Window window = TestTimeouts.result(asked);
        assertMillis(window.latencies(), 1, 9, 9);
        assertMillis(window.lateness(), 2, 0, 0);
    }

    @Test
    void rateThatIsTooHighHasNoMoreUnderWayThanAllowedAndShowsInLatency() throws Exception {
        Load load = start(4);
        Future<Window> asked = window(load, 1);
        pass(20);
        assertThat(underWay).hasSize(4);
        endAll();
        pass(1);
        assertThat(underWay).hasSize(4);
        endAll();
        Window window = TestTimeouts.result(asked);
        assertMillis(window.lateness(), 7, 14, 19);
        assertMillis(window.latencies(), 4, 17, 19);
    }

    @Test
    void stoppedLoadEndsWhenWhatIsUnderWayHas() {
        Load load = start(MANY);
        Future<Void> stopped = load.stop();
        pass(5);
        assertThat(underWay).hasSize(1);
        assertThat(stopped.isDone()).isFalse();
        endAll();
        assertThat(stopped.isSuccess()).isTrue();
        pass(5);
        assertThat(underWay).isEmpty();
    }

    @Test
    void firstFailureEndsIt() {
        Load load = start(MANY);
        Future<Window> asked = window(load, 10);
        underWay.remove().ended(new IOException("wrong"));
        pass(5);
        assertThat(underWay).isEmpty();
        assertThat(asked.cause()).hasMessage("wrong");
        Future<Void> stopped = load.stop();
        channel.runPendingTasks();
        assertThat(stopped.cause()).hasMessage("wrong");
    }

    @Test
    void windowIsReadAsItWasPrinted() throws Exception {
        Load load = start(MANY);
        Future<Window> asked = window(load, 3);
        endAll();
        pass(3);
        endAll();
        Window window = TestTimeouts.result(asked);
        assertThat(window.lateness().getTotalCount()).isEqualTo(3);
        assertThat(Window.parse(window.toString())).isEqualTo(window);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1})
    void rateOfNothingIsRefused(int perSecond) {
        assertThatThrownBy(() -> Scenario.paced("it", perSecond, 1, underWay::add))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
