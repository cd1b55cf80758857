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
 * pays if the next event comes sooner than a wake-up would take, and if nobody else wants the core. Neither is known
 * before, so both are learnt from what happened: the policy is told when the loop finds nothing to do, looks at its
 * queues, and wakes up.
 *
 * <table>
 * <caption>States</caption>
 * <tr><th>state</th><th>when</th><th>a loop with nothing to do</th></tr>
 * <tr><td>{@code QUIET}</td><td>at first, and after a wait that polling would not have shortened</td>
 *     <td>sleeps at once, until a wait is short again</td></tr>
 * <tr><td>{@code PREEMPTED}</td><td>while it polled, others had the core for more than a third of the time</td>
 *     <td>sleeps at once, until it was less</td></tr>
 * <tr><td>{@code OVERSPENT}</td><td>polling was in vain, or took longer than a wake-up, too often</td>
 *     <td>sleeps at once, until it has earned the next try by work: 1/64 of the time that this takes, or as long as
 *     that with a peer that is awake</td></tr>
 * <tr><td>{@code ACTIVE}</td><td>otherwise</td>
 *     <td>polls, for four times as long as a sleep takes here, then sleeps</td></tr>
 * </table>
 *
 * A poll that finds something has saved a wake-up, and has cost the time that it took. Where messages come at a steady
 * rate that is lower than one in a wake-up, polling for each of them would take the core for next to all of the time,
 * and sleeping takes less. So the loop sleeps there.
 *
 * <p>Waits are of two kinds, which are learned apart. A loop that has sent something, and to which nothing has come
 * since, waits for an answer, which comes soon if it comes at once. All other waits are for what somebody does next. A
 * client that sends a message each millisecond polls for its answer, and sleeps until the next one is due.
 *
 * <p>Two ends that exchange messages find each other like that: both sleep at first, and each wait lasts two wake-ups,
 * the peer's and the own one. Then one polls for so long. The peer's wake-up is over before that, so polling has paid,
 * and the peer, which polls now too, gets the next answer without a wake-up at all.
 *
 * <p>Two ends may work on one message or batch in turn, for longer than a wake-up takes. A poll for the peer's turn
 * then takes more of the processor than a sleep, but the wake-ups of both make each turn longer. The device can tell
 * that the peer is awake, and so most likely works on what comes next. If the loop itself works for more than a quarter
 * of the time, it may then poll for as long as it works. A peer that sleeps until its next message is due is not awake.
 *
 * <p>The peer may have lost its core to another thread for a while, most often for less than a few milliseconds. If the
 * loop slept then, Linux would move the peer to the core that is idle now. There it would go on, wake the loop, and
 * both would stay on that core, also when the other one is idle again: each sleeps, so that the other can run, and a
 * message takes two wake-ups. If they are on one core nevertheless, the loop that polls keeps the core from its peer,
 * until Linux moves the peer at a timer tick. In both cases the device can tell that the peer has not taken what was
 * sent to it. The loop goes on polling then, for up to {@link #LONG_SPIN} times as long, as far as {@link #savings}
 * allow it.
 *
 * <p>A thread that polls uses up its share of the core; then it waits until all others have had theirs. One that sleeps
 * at once is let in when it wakes up. So a loop on a busy machine does more if it does not poll, and it finds out that
 * the machine is busy by being preempted. A neighbour that always has something to do takes half of the core or more.
 * One that takes less has it whether the loop polls or not, so that it is no reason to stop.
 *
 * <p>Time is {@link System#nanoTime()}, and given by the caller. On the event loop.
 */
final class SpinPolicy {
    /** The states that the class description explains. */
    enum State {
        QUIET, PREEMPTED, OVERSPENT, ACTIVE
    }

    /**
     * The share (one in so many) of the loop's work that polling in vain may take, for each kind of wait. A share of
     * the time would be large beside the work of a loop that has a message each millisecond. It would be small beside
     * the work of a busy loop, which finds out sooner that polling pays again.
     */
    static final int VAIN_SHARE = 64;
    /** The same for waits at whose begin a peer is awake, of a loop that is busy. */
    static final int AWAKE_SHARE = 1;
    /** The share (one in so many) of the time for which a busy loop works at least. */
    static final int BUSY_SHARE = 4;
    /** The time after which it is seen again whether the loop is busy. */
    static final long BUSY_NANOS = 10_000_000;
    /** The tries in a row that may be in vain, after a pause of the peer's virtual machine for example. */
    static final int MAX_TRIES = 5;
    /** The peer's wake-up and the own one, and twice the average, as both take longer at times. */
    static final int SLEEPS_PER_SPIN = 4;
    /** The factor of a long spin, which is 10 ms by default: timer ticks of Linux are 1 to 10 ms apart (CONFIG_HZ). */
    static final int LONG_SPIN = 50;
    /** The number of long spins that are possible in a row. */
    static final int MAX_LONG_SPINS = 2;
    /** The jump of the clock above which the thread was stopped, and not just for an interrupt. */
    static final long JUMP_NANOS = 100_000;
    /** The time of work above which it is worth a system call to know how often the thread was preempted in it. */
    static final long LONG_WORK_NANOS = 20_000;
    /**
     * The share (one in so many) of the time that has passed for which others may have had the core while the loop
     * polled.
     */
    static final int LOST_SHARE = 3;
    /**
     * The time that others may take beyond their share, some time slices: compilers and the like do so now and then.
     */
    static final long MAX_LOST_NANOS = 8_000_000;
    static final long MAX_REST_NANOS = 2_000_000_000;
    /** The sleep that is assumed before one was measured: two wake-ups on most machines. */
    static final long FIRST_SLEEP_NANOS = 50_000;
    /** A sleep that ends at once, because the event was just there, says nothing about wake-ups. */
    static final long MIN_SLEEP_NANOS = 10_000;

    /** Waits of one kind, as they have been so far. */
    private final class Waits {
        private boolean quiet = true;
        private long credit = maxCredit;
        /** The part of {@link #worked} whose share is in the credit. */
        private long creditedWork;
        /** Moving average of short sleeps. */
        private long sleepNanos = FIRST_SLEEP_NANOS;
        /**
         * The cost of a sleep: the time of the shortest ones, which are next to nothing but the wake-up. A client's
         * sleeps until its next timer tell nothing about those until an answer comes.
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
    /** The time between waits, and the wake-ups, in nanoseconds. */
    private long worked;
    /** The loop has worked for one in {@link #BUSY_SHARE} of the time before {@link #busySince}, without wake-ups. */
    private boolean busy;
    private long busySince;
    private long busyWork;
    /** The kind of the present wait, or of the last one. */
    private Waits waits;
    private long knownPreemptions;
    /** The thread may have been preempted since these were read, and not while it polled. */
    private boolean outdated = true;
    private boolean waiting;
    private boolean polling;
    private long waitStart;
    private long spinLimit;
    /**
     * The time that polls for late peers may take. It is earned as the credit is, and mostly by the wake-ups that
     * successful polls have saved. It is lost where the loop was preempted in such a poll: others need the core.
     */
    private long savings;
    /** The end of the last wait. */
    private long waitEnd;
    private long lastLook;
    /** Time lost to others, above their share. */
    private long lost;
    /** The time up to which the share of others is in {@link #lost}. */
    private long lostTime;

    /**
     * @param maxSpinNanos the longest time to poll, 0: never
     * @param preemptions  how many times the scheduler has taken the core from the calling thread. It tells that from
     *                     pauses of the virtual machine, which are no reason not to poll
     * @param peerIsLate   whether a peer has not taken what was sent to it. Asked when a loop has polled in vain
     * @param peerIsAwake  whether a peer does not sleep. Asked when a busy loop has no credit
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
     * A wait begins: there is nothing to do.
     *
     * @param asked whether the loop has sent something since the last wait and nothing has arrived: it waits for an
     *              answer.
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

    /** A wait has begun and not ended. */
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

    /** Notes that polling has found nothing. Returns whether to look again. */
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

    /** Polls in vain so far are no reason to end, as a peer is late. */
    private boolean goesOn(long now) {
        long step = waits.spinNanos();
        if (now - waitStart > LONG_SPIN * maxSpinNanos || savings < step || !peerIsLate.getAsBoolean()) {
            return false;
        }
        savings -= step;
        spinLimit = now - waitStart + step;
        return true;
    }

    /** A long spin pays as one that is as long as allowed: the rest is taken from the savings. */
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
     * @param now before that is done: who takes the core then takes it from the work, not from polling
     */
    void found(long now) {
        long cost = 0;
        if (polling) {
            cost = polledNanos(now);
            if (now - lastLook > JUMP_NANOS) {
                // The processor was somebody else's.
                cost = 0;
                isPreempted(now);
            }
        }
        waits.quiet = false;
        waits.earn(waits.wakeUpNanos - cost);
        end(now);
    }

    /** The loop has slept, and the wait is over. */
    void woke(long now) {
        long slept = now - lastLook;
        outdated = true;
        // Estimate of the wait with polling: a peer that sleeps, too, causes half of it.
        waits.quiet = now - waitStart > waits.spinNanos() + waits.sleepNanos / 2;
        if (slept < 2 * maxSpinNanos) {
            long counted = Math.max(slept, MIN_SLEEP_NANOS);
            waits.sleepNanos += counted - waits.sleepNanos >> 3;
            // Down fast and up slowly, so that it stays near the shortest sleeps.
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
