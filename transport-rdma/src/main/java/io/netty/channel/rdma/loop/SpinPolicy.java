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
package io.netty.channel.rdma.loop;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Decides whether an event loop that has nothing to do polls for a while before it sleeps, and for how long. Polling
 * pays if the next event comes sooner than a wake-up would take, and if no other thread needs the core. Both are
 * estimated from the past. The loop reports when it has nothing to do, has polled, and has woken up.
 *
 * <table>
 * <caption>States</caption>
 * <tr><th>state</th><th>when</th><th>a loop with nothing to do</th></tr>
 * <tr><td>{@code QUIET}</td><td>at first, and after a wait that polling would not have shortened</td>
 *     <td>sleeps at once, until a wait is short again</td></tr>
 * <tr><td>{@code PREEMPTED}</td><td>while it polled, others had the core for more than a third of the time</td>
 *     <td>sleeps at once, until the share of the others is lower</td></tr>
 * <tr><td>{@code OVERSPENT}</td><td>too often, polling found nothing or took longer than a wake-up</td>
 *     <td>sleeps at once, until it has worked long enough for the next try: for 64 times the try's time, or for its
 *     time if a peer is awake</td></tr>
 * <tr><td>{@code ACTIVE}</td><td>otherwise</td>
 *     <td>polls, for four times as long as a sleep takes here, then sleeps</td></tr>
 * </table>
 *
 * A poll that finds something saves a wake-up, and costs the time that it takes. If messages come at a steady rate of
 * less than one in a wake-up, polling for each of them would use the core almost all the time. So the loop sleeps.
 *
 * <p>There are two kinds of waits, with separate estimates. A loop that has sent something, and has received nothing
 * since, waits for an answer, which comes soon if the peer answers at once. All other waits are for new work. A client
 * that sends a message each millisecond polls for the answer, and sleeps until the next message is due.
 *
 * <p>Two ends that exchange messages start to poll as follows. Both sleep at first, and each wait lasts two wake-ups:
 * the peer's and the own one. Then one end polls for that long. The peer's wake-up is over before, so polling has paid.
 * The peer now polls too, and gets the next answer without a wake-up.
 *
 * <p>Two ends may work on one message or batch in turn, for longer than a wake-up takes. A poll for the peer's turn
 * then takes more processor time than a sleep, but the wake-ups of both ends make each turn longer. The device can tell
 * that the peer is awake, and so probably works on the next message. A loop that works for more than a quarter of the
 * time may then poll for as long as it works. A peer that sleeps until its next message is due is not awake.
 *
 * <p>The peer may lose its core to another thread for a while, mostly for less than a few milliseconds. If the loop
 * slept then, Linux would move the peer to the loop's core, which is idle. There the peer would go on and wake the
 * loop. Both would stay on this core, even when the other core is idle again, because each sleeps while the other one
 * runs; a message would take two wake-ups. Loop and peer may also share a core already. Then a loop that polls keeps
 * the core from its peer, until Linux moves the peer at a timer tick. In both cases the device can tell that the peer
 * has not taken the last messages. The loop then goes on polling, for up to {@link #LONG_SPIN} times as long, if {@link
 * #savings} allow it.
 *
 * <p>A thread that polls uses up its share of the core, and then waits until all other threads have had theirs. A
 * thread that sleeps at once gets the core when it wakes up. So on a busy machine a loop does more if it does not poll.
 * It detects a busy machine by being preempted. A thread that always has work takes half of the core or more. A thread
 * that takes less gets its time whether the loop polls or not, so it is no reason to stop polling.
 *
 * <p>The caller passes the time, {@link System#nanoTime()}. On the event loop.
 */
final class SpinPolicy {
    /** The states that the class description explains. */
    enum State {
        QUIET, PREEMPTED, OVERSPENT, ACTIVE
    }

    /**
     * The share (one in so many) of the loop's work that polling in vain may take, for each kind of wait. A share of
     * the total time would be too large for a loop that has a message each millisecond. It would be too small for a
     * busy loop, which should find out soon that polling pays again.
     */
    static final int VAIN_SHARE = 64;
    /** The same share for a busy loop, if a peer is awake when the wait begins. */
    static final int AWAKE_SHARE = 1;
    /** The minimum share (one in so many) of the time for which a busy loop works. */
    static final int BUSY_SHARE = 4;
    /** The interval between two checks whether the loop is busy. */
    static final long BUSY_NANOS = 10_000_000;
    /** The number of tries in a row that may be in vain, for example after a pause of the peer's virtual machine. */
    static final int MAX_TRIES = 5;
    /** Two wake-ups, the peer's and the own one, each with twice the average, because they take longer at times. */
    static final int SLEEPS_PER_SPIN = 4;
    /** The factor of a long spin, which is 10 ms by default: timer ticks of Linux are 1 to 10 ms apart (CONFIG_HZ). */
    static final int LONG_SPIN = 50;
    /** The number of long spins that are possible in a row. */
    static final int MAX_LONG_SPINS = 2;
    /** A longer time between two polls means that the thread was stopped, and not just for an interrupt. */
    static final long JUMP_NANOS = 100_000;
    /** After longer work a system call reads how often the thread was preempted in it. */
    static final long LONG_WORK_NANOS = 20_000;
    /** The share (one in so many) of the elapsed time that other threads may have the core while the loop polls. */
    static final int LOST_SHARE = 3;
    /** The time that others may take beyond their share: some time slices, as compilers take now and then. */
    static final long MAX_LOST_NANOS = 8_000_000;
    static final long MAX_REST_NANOS = 2_000_000_000;
    /** The sleep that is assumed before one was measured: two wake-ups on most machines. */
    static final long FIRST_SLEEP_NANOS = 50_000;
    /** Shorter sleeps count as this one, because they ended at once by an event that was already there. */
    static final long MIN_SLEEP_NANOS = 10_000;

    /** The estimates for one kind of waits. */
    private final class Waits {
        private boolean quiet = true;
        private long credit = maxCredit;
        /** The part of {@link #worked} that has been added to the credit. */
        private long creditedWork;
        /** Moving average of short sleeps. */
        private long sleepNanos = FIRST_SLEEP_NANOS;
        /**
         * The cost of a sleep: the time of the shortest sleeps, which are almost only the wake-up. Each kind of waits
         * has its own, because a client's sleeps until its next timer tell nothing about its sleeps until an answer.
         */
        private long wakeUpNanos = FIRST_SLEEP_NANOS;

        long spinNanos() {
            return Math.min(maxSpinNanos, SLEEPS_PER_SPIN * sleepNanos);
        }

        /** Returns whether there is credit for a poll. */
        boolean hasCredit() {
            int share = busy && credit < spinNanos() && peerIsAwake.getAsBoolean() ? AWAKE_SHARE : VAIN_SHARE;
            long earned = (worked - creditedWork) / share;
            creditedWork += earned * share;
            earn(earned);
            return credit >= spinNanos();
        }

        void earn(long nanos) {
            credit = Math.min(maxCredit, credit + nanos);
            savings = Math.min(MAX_LONG_SPINS * LONG_SPIN * maxSpinNanos, savings + nanos);
        }
    }

    private final long maxSpinNanos;
    private final long maxCredit;
    private final LongSupplier preemptions;
    private final BooleanSupplier peerIsLate;
    private final BooleanSupplier peerIsAwake;
    private final Waits forAnswers;
    private final Waits forOthers;
    /** The sum of the times between waits and of the wake-ups, in nanoseconds. */
    private long worked;
    /** The loop has worked for one in {@link #BUSY_SHARE} of the last interval or more, not counting wake-ups. */
    private boolean busy;
    private long busySince;
    private long busyWork;
    /** The kind of the present wait, or of the last one. */
    private Waits waits;
    private long knownPreemptions;
    /** The thread may have been preempted outside of polling since {@link #knownPreemptions} were read. */
    private boolean outdated = true;
    private boolean waiting;
    private boolean polling;
    private long waitStart;
    private long spinLimit;
    /**
     * The time that polls for late peers may take. It is earned like the credit, mostly by the wake-ups that successful
     * polls save. It is set to 0 when the loop is preempted in such a poll, because other threads need the core.
     */
    private long savings;
    /** The end of the last wait. */
    private long waitEnd;
    private long lastLook;
    /** Time that other threads have taken, above their share. */
    private long lost;
    /** The time until which the share of the other threads has been subtracted from {@link #lost}. */
    private long lostTime;

    /**
     * @param maxSpinNanos the longest time to poll, 0: never
     * @param preemptions  the number of times that the scheduler has taken the core from the calling thread. Pauses of
     *         the virtual machine do not count, and are no reason not to poll
     * @param peerIsLate   whether a peer has not taken a message sent to it. Called when a loop has polled in vain
     * @param peerIsAwake  whether a peer does not sleep. Called when a busy loop has no credit
     */
    SpinPolicy(long maxSpinNanos, LongSupplier preemptions, BooleanSupplier peerIsLate, BooleanSupplier peerIsAwake,
               long now) {
        this.maxSpinNanos = maxSpinNanos;
        this.preemptions = preemptions;
        this.peerIsLate = peerIsLate;
        this.peerIsAwake = peerIsAwake;
        maxCredit = MAX_TRIES * maxSpinNanos;
        forAnswers = new Waits();
        forOthers = new Waits();
        waits = forOthers;
        lostTime = now;
        waitEnd = now;
        busySince = now;
        savings = MAX_LONG_SPINS * LONG_SPIN * maxSpinNanos;
    }

    /**
     * Begins a wait, because there is nothing to do.
     *
     * @param asked whether the loop has sent something since the last wait and received nothing: an answer is due.
     * @return whether to poll.
     */
    boolean begin(long now, boolean asked) {
        waits = asked ? forAnswers : forOthers;
        waiting = true;
        worked += now - waitEnd;
        busyWork += now - waitEnd;
        if (now - busySince >= BUSY_NANOS) {
            busy = busyWork * BUSY_SHARE >= now - busySince;
            busySince = now;
            busyWork = 0;
        }
        waitStart = now;
        lastLook = now;
        outdated |= now - waitEnd > LONG_WORK_NANOS;
        polling = maxSpinNanos > 0 && state(now) == State.ACTIVE;
        spinLimit = waits.spinNanos();
        if (polling && outdated) {
            outdated = false;
            knownPreemptions = preemptions.getAsLong();
        }
        return polling;
    }

    /** Returns whether a wait has begun and not ended. */
    boolean isWaiting() {
        return waiting;
    }

    State state(long now) {
        lost = Math.max(0, lost - (now - lostTime) / LOST_SHARE);
        lostTime = now;
        boolean hasCredit = waits.hasCredit();
        if (waits.quiet) {
            return State.QUIET;
        }
        if (lost > MAX_LOST_NANOS) {
            return State.PREEMPTED;
        }
        return hasCredit ? State.ACTIVE : State.OVERSPENT;
    }

    /** Notes that polling has found nothing. Returns whether to poll again. */
    boolean foundNothing(long now) {
        if (now - lastLook > JUMP_NANOS) {
            polling = !isPreempted(now);
        } else if (now - waitStart >= spinLimit && !goesOn(now)) {
            waits.credit -= polledNanos(now);
            polling = false;
        }
        lastLook = now;
        return polling;
    }

    /** Returns whether to poll longer than usual, because a peer is late. Takes the time from the savings. */
    private boolean goesOn(long now) {
        long step = waits.spinNanos();
        if (now - waitStart > LONG_SPIN * maxSpinNanos || savings < step || !peerIsLate.getAsBoolean()) {
            return false;
        }
        savings -= step;
        spinLimit = now - waitStart + step;
        return true;
    }

    /** Returns the time that the credit pays for. The rest of a long spin is paid by the savings. */
    private long polledNanos(long now) {
        return Math.min(maxSpinNanos, now - waitStart);
    }

    private boolean isPreempted(long now) {
        long known = knownPreemptions;
        knownPreemptions = preemptions.getAsLong();
        if (knownPreemptions == known) {
            return false;
        }
        lost = Math.min(MAX_LOST_NANOS + MAX_REST_NANOS / LOST_SHARE, lost + now - lastLook);
        if (spinLimit > maxSpinNanos) {
            savings = 0;
        }
        return true;
    }

    /**
     * Ends the wait: there is something to do, and the loop has not slept.
     *
     * @param now the time before the work, so that a preemption in the work does not count as one of polling
     */
    void found(long now) {
        long cost = 0;
        if (polling) {
            cost = polledNanos(now);
            if (now - lastLook > JUMP_NANOS) {
                // Another thread had the core.
                cost = 0;
                isPreempted(now);
            }
        }
        waits.quiet = false;
        waits.earn(waits.wakeUpNanos - cost);
        end(now);
    }

    /** Ends the wait, after the loop has slept. */
    void woke(long now) {
        long slept = now - lastLook;
        outdated = true;
        // Compares the wait with polling: it has no own wake-up, half of a sleep if the peer sleeps, too.
        waits.quiet = now - waitStart > waits.spinNanos() + waits.sleepNanos / 2;
        if (slept < 2 * maxSpinNanos) {
            long counted = Math.max(slept, MIN_SLEEP_NANOS);
            waits.sleepNanos += counted - waits.sleepNanos >> 3;
            // The estimate falls fast and rises slowly, so that it stays near the shortest sleeps.
            long difference = Math.min(counted, FIRST_SLEEP_NANOS) - waits.wakeUpNanos;
            waits.wakeUpNanos += difference >> (difference < 0 ? 2 : 6);
        }
        worked += waits.wakeUpNanos;
        end(now);
    }

    private void end(long now) {
        waiting = false;
        polling = false;
        waitEnd = now;
    }
}
