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

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import org.HdrHistogram.Histogram;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Does the operations of one scenario: as many at a time as it says, each next one when one has ended, first to warm up
 * and then to measure. Runs on one event loop.
 */
final class Load {
    private static final int SIGNIFICANT_DIGITS = 3;
    /** Much longer than any operation. A server that hangs is an error and not a wait without end. */
    private static final long TIMEOUT_SECONDS = 120;

    private final EventExecutor executor;
    private final Scenario scenario;
    private final Plan plan;
    private final boolean first;
    private final Promise<Measurement> result;
    private final Histogram histogram = new Histogram(SIGNIFICANT_DIGITS);
    private long windowStart;
    private long windowEnd;
    private boolean warm;
    private boolean ended;
    private int underWay;
    private Measurement measurement;

    private Load(EventExecutor executor, Scenario scenario, Plan plan, boolean first) {
        this.executor = executor;
        this.scenario = scenario;
        this.plan = plan;
        this.first = first;
        result = executor.newPromise();
    }

    /**
     * Starts the load.
     *
     * @param first whether it is the first in its process
     * @return fails with the first operation that does
     */
    static Future<Measurement> run(EventExecutor executor, Scenario scenario, Plan plan, boolean first) {
        Load load = new Load(executor, scenario, plan, first);
        executor.execute(load::start);
        return load.result;
    }

    private void start() {
        Future<?> timeout = executor.schedule(() -> end(new TimeoutException(
                scenario.name() + ": not done within " + TIMEOUT_SECONDS + " s")), TIMEOUT_SECONDS, TimeUnit.SECONDS);
        result.addListener(done -> timeout.cancel(false));
        windowEnd = System.nanoTime() + (first ? plan.compilerWarmUpNanos() : plan.warmUpNanos());
        for (int i = 0; i < scenario.inFlight() && !ended; i++) {
            next();
        }
    }

    private void next() {
        long startNanos = System.nanoTime();
        underWay++;
        scenario.operation().start().addListener(operation -> operationEnded(operation, startNanos));
    }

    private void operationEnded(Future<?> operation, long startNanos) {
        underWay--;
        if (!operation.isSuccess()) {
            end(operation.cause());
            return;
        }
        long now = System.nanoTime();
        if (!ended) {
            count(startNanos, now);
        }
        if (!ended) {
            next();
        } else if (underWay == 0) {
            // Those that were still under way were checked, too, and don't disturb the next scenario.
            result.trySuccess(measurement);
        }
    }

    private void count(long startNanos, long now) {
        if (warm) {
            histogram.recordValue(now - startNanos);
        }
        if (now - windowEnd < 0) {
            return;
        }
        if (!warm) {
            warm = true;
            windowStart = now;
            windowEnd = now + plan.measureNanos();
        } else if (histogram.getTotalCount() >= plan.minOperations()) {
            ended = true;
            measurement = measurement(now - windowStart);
        }
    }

    private Measurement measurement(long nanos) {
        long count = histogram.getTotalCount();
        boolean bytes = scenario.bytes() > 0;
        double amount = (double) count * (bytes ? scenario.bytes() : 1);
        return new Measurement(scenario.name(), count, Math.round(amount * 1e9 / nanos),
                bytes ? Measurement.Unit.BYTES : Measurement.Unit.OPERATIONS, histogram.getValueAtPercentile(50),
                histogram.getValueAtPercentile(99), histogram.getValueAtPercentile(99.9));
    }

    private void end(Throwable cause) {
        ended = true;
        result.tryFailure(cause);
    }
}
