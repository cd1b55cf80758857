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
package io.netty.example.rdma.compare;

import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class LoadTest {
    private final EventExecutor executor = new DefaultEventExecutor();
    private final Queue<Promise<Void>> underWay = new ArrayDeque<>();
    private int mostUnderWay;

    @AfterEach
    void stopExecutor() throws InterruptedException {
        executor.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    @Test
    void asManyOperationsAsAskedForAreUnderWayAndAllEnd() throws Exception {
        Measurement measurement = Load.run(executor, new Scenario("it", 4, 0, this::operation), Plan.QUICK, false)
                .get();
        assertThat(measurement.scenario()).isEqualTo("it");
        assertThat(measurement.count()).isGreaterThanOrEqualTo(Plan.QUICK.minOperations());
        assertThat(measurement.unit()).isEqualTo(Measurement.Unit.OPERATIONS);
        assertThat(mostUnderWay).isEqualTo(4);
        assertThat(underWay).isEmpty();
    }

    @Test
    void bytesAreCountedWhereTheyMatter() throws Exception {
        Measurement measurement = Load.run(executor, Scenario.transfer("it", 1000, this::operation), Plan.QUICK, false)
                .get();
        assertThat(measurement.unit()).isEqualTo(Measurement.Unit.BYTES);
        assertThat(measurement.perSecond()).isGreaterThan(measurement.count());
    }

    @Test
    void firstWrongAnswerEndsIt() {
        assertThatThrownBy(() -> Load.run(executor, Scenario.oneByOne("it",
                () -> executor.newFailedFuture(new IllegalStateException("wrong"))), Plan.QUICK, false).get())
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
