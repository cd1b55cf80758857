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
package io.netty.example.rdma.harness;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import org.HdrHistogram.Histogram;

/**
 * Does the operations of one scenario until it is stopped: as many at a time as it says, each next one when one has
 * ended. What ends in a stretch of time that somebody asks about is counted; the load goes on between these. Its
 * methods may be called by any thread.
 */
final class Load {
    private static final int SIGNIFICANT_DIGITS = 3;

    private final EventExecutor executor;
    private final Scenario scenario;
    private final Promise<Void> stopped;
    /** Used in turn: the one of the last window is still read. */
    private Histogram histogram = new Histogram(SIGNIFICANT_DIGITS);
    private Histogram lastHistogram = new Histogram(SIGNIFICANT_DIGITS);
    private int underWay;
    private boolean stopping;
    private Throwable failure;
    /** {@code null} while nothing is counted. */
    private Promise<Window> window;
    private long windowNanos;
    private boolean counting;
    private long windowStart;

    private Load(EventExecutor executor, Scenario scenario) {
        this.executor = executor;
        this.scenario = scenario;
        stopped = executor.newPromise();
    }

    /** Starts the load. */
    static Load start(EventExecutor executor, Scenario scenario) {
        Load load = new Load(executor, scenario);
        executor.execute(load::begin);
        return load;
    }

    /**
     * Counts what ends within a time, from the next operation that ends to the first one that ends after it.
     *
     * @return fails with the first operation that does. To be read before the next window but one
     */
    Future<Window> window(long nanos) {
        Promise<Window> promise = executor.newPromise();
        executor.execute(() -> {
            if (failure != null) {
                promise.setFailure(failure);
                return;
            }
            Histogram next = lastHistogram;
            lastHistogram = histogram;
            histogram = next;
            histogram.reset();
            counting = false;
            windowNanos = nanos;
            window = promise;
        });
        return promise;
    }

    /**
     * Starts no operation any more.
     *
     * @return succeeds when none is under way, fails if one has failed
     */
    Future<Void> stop() {
        executor.execute(() -> {
            stopping = true;
            endIfIdle();
        });
        return stopped;
    }

    private void begin() {
        for (int i = 0; i < scenario.inFlight(); i++) {
            new Slot().next();
        }
    }

    private void fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
        if (window != null) {
            window.setFailure(failure);
            window = null;
        }
    }

    private void endIfIdle() {
        if (underWay > 0) {
            return;
        }
        if (failure != null) {
            stopped.tryFailure(failure);
        } else if (stopping) {
            stopped.trySuccess(null);
        }
    }

    private void count(long startNanos) {
        if (window == null) {
            return;
        }
        long now = System.nanoTime();
        if (!counting) {
            counting = true;
            windowStart = now;
            return;
        }
        histogram.recordValue(now - startNanos);
        if (now - windowStart >= windowNanos) {
            window.setSuccess(new Window(now - windowStart, histogram));
            window = null;
        }
    }

    /** One of the operations that are under way at a time. */
    private final class Slot implements Scenario.Completion {
        private long startNanos;

        void next() {
            startNanos = System.nanoTime();
            underWay++;
            scenario.operation().start(this);
        }

        @Override
        public void ended(Throwable cause) {
            underWay--;
            if (cause == null) {
                count(startNanos);
            } else {
                fail(cause);
            }
            if (failure == null && !stopping) {
                next();
            } else {
                endIfIdle();
            }
        }
    }
}
