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
package io.netty.channel.rdma.attempt;

import io.netty.util.concurrent.Ticker;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The candidates (providers or transports) that one connect tries, one after the other, and the time for each. The
 * caller makes the attempts, and reports their results. One thread at a time.
 *
 * <p>Candidates that are not remembered to fail are tried first, in the given order, then the others. The last
 * candidate of the list is the last resort. It is never passed over. It gets all the time that is left, except the time
 * for a candidate that is tried after it. Each other candidate gets the time of an attempt, but at most half of the
 * total time.
 *
 * @param <C> the candidates: constants.
 */
public final class AttemptPlan<C> {
    private static final long MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final AttemptRules rules;
    private final Destination destination;
    private final RecentFailures failures;
    private final Times times;
    private final Ticker ticker;
    private final long startNanos;
    private final List<C> candidates;
    private final C lastResort;
    private final Deque<C> left = new ArrayDeque<>(2);
    /** Candidates that have failed before. They are tried only if time is left. */
    private final List<C> suspects = new ArrayList<>(1);
    /** The remembered failure of the nearest candidate that is passed over, or {@code null}. */
    private RecentFailures.Remembered remembered;
    private C current;
    private long attemptNanos;
    private boolean again;
    private boolean lastResortFailed;

    /** The times of a connect, in nanoseconds. */
    public static final class Times {
        private final long total;
        private final long attempt;
        private final long remember;
        private final long rememberSilence;

        /**
         * @param total    the time for all attempts together; 0 for no limit.
         * @param attempt  the time for an attempt that is not the last resort.
         * @param remember the time for which a failed candidate is passed over; with 0 no failure is remembered.
         */
        public Times(long total, long attempt, long remember) {
            this(total, attempt, remember, remember);
        }

        /** @param rememberSilence the time for which a candidate is passed over that had no answer in time. */
        public Times(long total, long attempt, long remember, long rememberSilence) {
            this.total = total;
            this.attempt = attempt;
            this.remember = remember;
            this.rememberSilence = rememberSilence;
        }

        private long remember(AttemptFailure failure) {
            return failure == AttemptFailure.TIMEOUT ? rememberSilence : remember;
        }
    }

    /** @param candidates the allowed ones, at least one; the preferred one first. */
    public AttemptPlan(AttemptRules rules, List<C> candidates, Destination destination, RecentFailures failures,
                       Times times, Ticker ticker) {
        this.rules = rules;
        this.destination = destination;
        this.failures = failures;
        this.times = times;
        this.ticker = ticker;
        startNanos = ticker.nanoTime();
        this.candidates = List.copyOf(candidates);
        lastResort = candidates.get(candidates.size() - 1);
        for (C candidate : candidates) {
            RecentFailures.Remembered failure = candidate == lastResort || times.remember == 0 ? null :
                    failures.ask(destination, candidate, times.attempt);
            if (failure == null) {
                left.add(candidate);
            } else {
                suspects.add(candidate);
                remembered = remembered == null ? failure : remembered;
            }
        }
        left.addAll(suspects);
    }

    /** Returns the remembered failure of the nearest candidate that is not tried first, or {@code null}. */
    public RecentFailures.Remembered remembered() {
        return remembered;
    }

    /** Returns whether a candidate remains to be tried after the current one. */
    public boolean hasNext() {
        C next = left.peek();
        return next != null && (!suspects.contains(next) || times.total == 0 || elapsedNanos() < times.total);
    }

    /** Begins the next attempt. */
    public C next() {
        current = left.remove();
        attemptNanos = ticker.nanoTime();
        return current;
    }

    /** Returns the time limit of the present attempt: at least a millisecond; 0 for no limit. */
    public long limitNanos() {
        boolean all = current == lastResort || left.isEmpty() && rules.isSilenceOfAListener();
        if (times.total == 0) {
            return all ? 0 : times.attempt;
        }
        long rest = times.total - elapsedNanos();
        long limit = all ? rest - (left.isEmpty() ? 0 : Math.min(times.attempt, rest / 2)) :
                Math.min(times.attempt, left.isEmpty() ? rest : Math.min(times.total / 2, rest));
        return Math.max(MIN_NANOS, limit);
    }

    /** Returns the time since the plan was made. */
    public long elapsedNanos() {
        return ticker.nanoTime() - startNanos;
    }

    /**
     * Notes that the present attempt has failed. If the last resort has failed, too, and no attempt is left, no failure
     * is remembered: the peer is down, which says nothing about the candidates.
     *
     * @param why the reason to remember, an immutable object.
     * @return whether another attempt follows.
     */
    public boolean failed(AttemptFailure failure, Object why) {
        boolean tookLong = ticker.nanoTime() - attemptNanos >= times.attempt / 2;
        if (current == lastResort) {
            lastResortFailed = true;
        } else if (times.remember > 0) {
            if (rules.remembers(failure, tookLong)) {
                failures.remember(destination, current, why, times.remember(failure));
            } else {
                failures.forget(destination, current);
            }
        }
        if (!rules.triesNext(failure)) {
            left.clear();
        } else if (failure == AttemptFailure.TIMEOUT && rules.isSilenceOfAListener() && current != lastResort &&
                !again && !suspects.contains(current)) {
            again = true;
            suspects.add(current);
            left.add(current);
        }
        boolean next = hasNext();
        if (!next && lastResortFailed && times.remember > 0) {
            candidates.forEach(candidate -> failures.forget(destination, candidate));
        }
        return next;
    }

    /** Notes that the present attempt has made a connection. */
    public void connected() {
        forget();
    }

    /**
     * Forgets the failures, of any connect, of the candidate that was tried last. Called after {@link #connected} when
     * the connection has ended, because another process may be the peer now.
     */
    public void forget() {
        if (times.remember > 0) {
            failures.forget(destination, current);
        }
    }
}
