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

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.concurrent.Ticker;
import org.HdrHistogram.Histogram;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * Does the operations of one scenario until it is stopped. A closed load has a fixed number of operations in flight,
 * and starts the next one when one has ended. A paced load starts each operation when it is due. {@link #window} counts
 * the operations that end in a stretch of time; the load also runs between windows. Any thread may call the methods.
 *
 * <p>A paced load is open: the latency of an operation begins when it was due, even if it was started later. So the
 * latency includes the delays of the client (coordinated omission). A timer of the event loop ({@code schedule}) sets
 * the pace. Each time it fires, it starts all operations that are due, and is set again for the next one. A thread that
 * hands each message to the loop would need a core beside the two that are measured. It would add its own wake-up and
 * the loop's wake-up by another thread to every message, which takes longer than the measured work. Timers of all
 * transports here are epoll's: the loops of RDMA sleep by the same code. The lateness of each start is recorded beside
 * the latency.
 */
final class Load {
    private static final int SIGNIFICANT_DIGITS = 3;

    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final EventExecutor executor;
    private final Ticker ticker;
    private final Scenario scenario;
    private final Promise<Void> stopped;
    private final Runnable startDue = this::startDue;
    /** Slots of a paced load that are not in use. */
    private final Queue<Slot> free = new ArrayDeque<>();
    /** When the first operation of a paced load was due. */
    private long firstDueNanos;
    /** Number of operations that a paced load has started. */
    private long started;
    /** Counters of the present and of the last window, used in turn: a caller still reads those of the last window. */
    private Counts counts;
    private Counts lastCounts;
    private int underWay;
    private boolean stopping;
    private Throwable failure;
    /** Promise of the present window; {@code null} while nothing is counted. */
    private Promise<Window> window;
    private long windowNanos;
    private boolean counting;
    private long windowStart;

    private Load(EventExecutor executor, Scenario scenario) {
        this.executor = executor;
        ticker = executor.ticker();
        this.scenario = scenario;
        counts = new Counts(scenario);
        lastCounts = new Counts(scenario);
        stopped = executor.newPromise();
    }

    /** Starts the load. */
    static Load start(EventExecutor executor, Scenario scenario) {
        Load load = new Load(executor, scenario);
        executor.execute(load::begin);
        return load;
    }

    /**
     * Counts operations that end within a time, from the next one that ends to the first one that ends after this time.
     *
     * @return fails with the first operation that fails. To be read before the next window but one
     */
    Future<Window> window(long nanos) {
        Promise<Window> promise = executor.newPromise();
        executor.execute(() -> {
            if (failure != null) {
                promise.setFailure(failure);
                return;
            }
            Counts next = lastCounts;
            lastCounts = counts;
            counts = next;
            counts.reset();
            counting = false;
            windowNanos = nanos;
            window = promise;
        });
        return promise;
    }

    /**
     * Stops the start of operations.
     *
     * @return succeeds when no operation is in flight, fails if one has failed
     */
    Future<Void> stop() {
        executor.execute(() -> {
            stopping = true;
            endIfIdle();
        });
        return stopped;
    }

    private void begin() {
        if (scenario.perSecond() > 0) {
            firstDueNanos = ticker.nanoTime();
            startDue();
            return;
        }
        for (int i = 0; i < scenario.inFlight(); i++) {
            new Slot().next();
        }
    }

    /** Starts all operations that are due, and schedules itself for the next one. */
    private void startDue() {
        long now = ticker.nanoTime();
        long dueNanos = dueNanos();
        // Operations that become due meanwhile wait for the next call, so that the event loop can read answers.
        while (failure == null && !stopping && dueNanos - now <= 0 && underWay < scenario.inFlight()) {
            started++;
            if (window != null) {
                counts.lateness.recordValue(ticker.nanoTime() - dueNanos);
            }
            Slot slot = free.poll();
            (slot == null ? new Slot() : slot).start(dueNanos);
            dueNanos = dueNanos();
        }
        if (failure == null && !stopping) {
            // If too many operations are in flight, the next look is after an interval.
            long least = underWay < scenario.inFlight() ? 0 : SECOND_NANOS / scenario.perSecond();
            executor.schedule(startDue, Math.max(least, dueNanos - ticker.nanoTime()), TimeUnit.NANOSECONDS);
        }
    }

    /** When the next operation of a paced load is due. */
    private long dueNanos() {
        return firstDueNanos + started * SECOND_NANOS / scenario.perSecond();
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
        long now = ticker.nanoTime();
        if (!counting) {
            counting = true;
            windowStart = now;
            return;
        }
        counts.latencies.recordValue(now - startNanos);
        if (now - windowStart >= windowNanos) {
            window.setSuccess(new Window(now - windowStart, counts.latencies, counts.lateness));
            window = null;
        }
    }

    /** Counters of a window. */
    private static final class Counts {
        private final Histogram latencies = new Histogram(SIGNIFICANT_DIGITS);
        private final Histogram lateness;

        Counts(Scenario scenario) {
            lateness = scenario.perSecond() > 0 ? new Histogram(SIGNIFICANT_DIGITS) : null;
        }

        void reset() {
            latencies.reset();
            if (lateness != null) {
                lateness.reset();
            }
        }
    }

    /** One of the operations that are in flight at the same time. */
    private final class Slot implements Scenario.Completion {
        private long startNanos;

        void next() {
            start(ticker.nanoTime());
        }

        /** Starts an operation whose latency begins at this time. */
        void start(long nanos) {
            startNanos = nanos;
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
            if (scenario.perSecond() > 0) {
                free.add(this);
                endIfIdle();
            } else if (failure == null && !stopping) {
                next();
            } else {
                endIfIdle();
            }
        }
    }
}
