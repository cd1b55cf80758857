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

import io.netty.channel.rdma.TestTimeouts;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import org.HdrHistogram.Histogram;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class LoadTest {
    private static final long NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final EventExecutor executor = new DefaultEventExecutor();
    private final Queue<Promise<Void>> underWay = new ArrayDeque<>();
    private int mostUnderWay;

    @AfterEach
    void stopExecutor() throws InterruptedException {
        TestTimeouts.sync(executor.shutdownGracefully(0, 10, TimeUnit.SECONDS));
    }

    @Test
    void asManyOperationsAsAskedForAreUnderWayAndAllEnd() throws Exception {
        Load load = Load.start(executor, new Scenario("it", 4, 0, this::operation));
        for (int i = 0; i < 3; i++) {
            Window window = TestTimeouts.result(load.window(NANOS));
            assertThat(window.nanos()).isGreaterThanOrEqualTo(NANOS);
            assertThat(window.count()).isPositive();
        }
        TestTimeouts.result(load.stop());
        assertThat(mostUnderWay).isEqualTo(4);
        assertThat(underWay).isEmpty();
    }

    @Test
    void windowIsReadAsItWasPrinted() throws Exception {
        Load load = Load.start(executor, Scenario.oneByOne("it", this::operation));
        Window window = TestTimeouts.result(load.window(NANOS));
        assertThat(Window.parse(window.toString())).isEqualTo(window);
        TestTimeouts.result(load.stop());
    }

    @Test
    void eventLoopsShareTheOperationsAndTheirWindowsAddUp() {
        Scenario all = new Scenario("it", 1024, 0, this::operation);
        assertThat(IntStream.range(0, 7).map(loop -> all.share(loop, 7).inFlight())).containsOnly(146, 147);
        assertThat(IntStream.range(0, 7).map(loop -> all.share(loop, 7).inFlight()).sum()).isEqualTo(1024);
        Histogram latencies = new Histogram(3);
        latencies.recordValueWithCount(1, 10);
        Window together = Window.together(List.of(new Window(1000, latencies), new Window(2000, latencies)));
        assertThat(together.count()).isEqualTo(20);
        assertThat(together.rate()).isCloseTo(1.5e7, Offset.offset(1e4));
    }

    @Test
    void firstWrongAnswerEndsIt() {
        Load load = Load.start(executor, Scenario.oneByOne("it",
                () -> executor.newFailedFuture(new IllegalStateException("wrong"))));
        assertThatThrownBy(() -> TestTimeouts.result(load.window(NANOS)))
                .isInstanceOf(ExecutionException.class).hasRootCauseMessage("wrong");
        assertThatThrownBy(() -> TestTimeouts.result(load.stop()))
                .isInstanceOf(ExecutionException.class).hasRootCauseMessage("wrong");
    }

    private Promise<Void> operation() {
        Promise<Void> promise = executor.newPromise();
        underWay.add(promise);
        mostUnderWay = Math.max(mostUnderWay, underWay.size());
        executor.execute(() -> underWay.remove().setSuccess(null));
        return promise;
    }
}
