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

import io.netty.channel.rdma.loop.SimulatedMachine.Pair;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.stream.Stream;

import static io.netty.channel.rdma.loop.SpinPolicy.State.ACTIVE;
import static io.netty.channel.rdma.loop.SpinPolicy.State.OVERSPENT;
import static io.netty.channel.rdma.loop.SpinPolicy.State.PREEMPTED;
import static io.netty.channel.rdma.loop.SpinPolicy.State.QUIET;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

/**
 * The states one by one, with a clock that is set by hand; then what comes of them when loops with this policy run on a
 * simulated machine.
 */
@Tag("quick")
class SpinPolicyTest {
    private static final long MAX_SPIN = 200_000;
    private static final long SECOND = 1_000_000_000;
    private static final long MILLI = 1_000_000;

    private long now = Long.MAX_VALUE - 5 * MILLI;
    private int preemptions;
    private boolean peerIsLate;
    private boolean peerIsAwake;
    private final SpinPolicy policy =
            new SpinPolicy(MAX_SPIN, () -> preemptions, () -> peerIsLate, () -> peerIsAwake, now);

    private void sleep(long nanos) {
        assertThat(policy.begin(now, false)).isFalse();
        now += nanos;
        policy.woke(now);
    }

    /** Returns how long the loop has polled in vain before it sleeps. */
    private long spinInVain(long lookNanos) {
        long start = now;
        assertThat(policy.begin(now, false)).isTrue();
        do {
            now += lookNanos;
        } while (policy.foundNothing(now));
        return now - start;
    }

    private void becomeActive() {
        sleep(40_000);
        assertThat(policy.state(now)).isEqualTo(ACTIVE);
    }

    @Test
    void firstWaitIsASleep() {
        assertThat(policy.state(now)).isEqualTo(QUIET);
        assertThat(policy.begin(now, false)).isFalse();
    }

    @Test
    void shortSleepMakesTheNextWaitASpinOfFourSleeps() {
        becomeActive();
        for (int i = 0; i < 100; i++) {
            policy.begin(now, false);
            policy.found(now);
            policy.begin(now, false);
            policy.woke(now += 20_000);
        }
        assertThat(spinInVain(1000)).isBetween(79_000L, 82_000L);
    }

    @Test
    void longSleepMakesTheLoopQuiet() {
        becomeActive();
        policy.begin(now, false);
        policy.woke(now += MILLI);
        assertThat(policy.state(now)).isEqualTo(QUIET);
    }

    @Test
    void spinInVainMakesTheLoopQuiet() {
        becomeActive();
        spinInVain(1000);
        policy.woke(now += 40_000);
        assertThat(policy.state(now)).isEqualTo(QUIET);
    }

    @Test
    void spinIsNeverLongerThanAllowed() {
        for (int i = 0; i < 100; i++) {
            policy.begin(now, false);
            policy.woke(now += 390_000);
            policy.begin(now, false);
            policy.found(now);
        }
        assertThat(spinInVain(1000)).isEqualTo(MAX_SPIN);
    }

    @Test
    void loopThatMayNotSpinNeverDoes() {
        SpinPolicy never = new SpinPolicy(0, () -> preemptions, () -> true, () -> true, now);
        for (int i = 0; i < 100; i++) {
            assertThat(never.begin(now, false)).isFalse();
            never.woke(now += 10_000);
        }
    }

    @Test
    void spinsInVainEndWhenTheCreditIsSpentAndGoOnWhenItIsEarned() {
        long spent = 0;
        for (sleep(40_000); policy.state(now) == ACTIVE; sleep(40_000)) {
            spent += spinInVain(1000);
            policy.woke(now += MILLI);
        }
        assertThat(policy.state(now)).isEqualTo(OVERSPENT);
        assertThat(spent).isBetween((SpinPolicy.MAX_TRIES - 1) * MAX_SPIN, (SpinPolicy.MAX_TRIES + 1) * MAX_SPIN);
        now += MAX_SPIN * SpinPolicy.VAIN_SHARE;
        assertThat(policy.begin(now, false)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({ "true, 2, 100, 100", "false, 2, 0, 15", "true, 5, 0, 15" })
    void loopThatWorksForAQuarterOfTheTimePollsForAsLongAsItWorksIfAPeerIsAwake(boolean awake, int share, int least,
            int most) {
        peerIsAwake = awake;
        long work = 150_000 / share, wait = 150_000 - work;
        int polls = 0;
        for (int i = 0; i < 300; i++) {
            if (policy.begin(now += work, false)) {
                assertThat(policy.foundNothing(now += wait)).isTrue();
                policy.found(now);
                polls += i < 200 ? 0 : 1;
            } else {
                policy.woke(now += wait);
            }
        }
        assertThat(polls).isBetween(least, most);
    }

    @Test
    void spinsThatFindSomethingPayForThoseInVain() {
        becomeActive();
        for (int i = 0; i < 100; i++) {
            spinInVain(1000);
            policy.woke(now += 40_000);
            sleep(40_000);
            for (int j = 0; j < 5; j++) {
                assertThat(policy.begin(now, false)).isTrue();
                now += 2000;
                policy.found(now);
            }
        }
    }

    /** Polls in vain while a peer is late, until the loop sleeps. Returns how long. */
    private long spinForLatePeer() {
        peerIsLate = true;
        long spun = spinInVain(1000);
        policy.woke(now += 40_000);
        sleep(40_000);
        return spun;
    }

    @Test
    void loopPollsLongerForALatePeerAsFarAsItsSavingsAllow() {
        becomeActive();
        long most = SpinPolicy.LONG_SPIN * MAX_SPIN;
        assertThat(spinForLatePeer()).isBetween(most, most + MAX_SPIN);
        long spun = most;
        for (int i = 1; i < 2 * SpinPolicy.MAX_LONG_SPINS; i++) {
            spun += spinForLatePeer();
        }
        assertThat(spun).isBetween(SpinPolicy.MAX_LONG_SPINS * most,
                SpinPolicy.MAX_LONG_SPINS * (most + 2 * MAX_SPIN) + SpinPolicy.MAX_TRIES * MAX_SPIN);
        for (int i = 0; i < 1000; i++) {
            policy.begin(now, false);
            policy.found(now += 1000);
        }
        assertThat(spinForLatePeer()).isGreaterThan(most / 2);
    }

    @Test
    void loopSleepsWhenThePeerHasTakenWhatWasSent() {
        becomeActive();
        peerIsLate = true;
        long start = now;
        assertThat(policy.begin(now, false)).isTrue();
        while (now - start < 5 * MILLI) {
            assertThat(policy.foundNothing(now += 1000)).isTrue();
        }
        peerIsLate = false;
        while (policy.foundNothing(now += 1000)) {
            assertThat(now - start).isLessThan(5 * MILLI + MAX_SPIN);
        }
    }

    @Test
    void loopThatIsPreemptedWhileItPollsForALatePeerHasNoMoreSavings() {
        becomeActive();
        peerIsLate = true;
        long start = now;
        assertThat(policy.begin(now, false)).isTrue();
        while (now - start < MILLI) {
            assertThat(policy.foundNothing(now += 1000)).isTrue();
        }
        preemptions++;
        assertThat(policy.foundNothing(now += 3 * MILLI)).isFalse();
        policy.woke(now += 40_000);
        sleep(40_000);
        assertThat(spinForLatePeer()).isLessThanOrEqualTo(2 * MAX_SPIN);
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void preemptionsOfSomeTimeSlicesAreFollowedByARest(boolean found) {
        becomeActive();
        assertThatLoopRests(found, 20 * MILLI, SpinPolicy.LOST_SHARE * (20 * MILLI - SpinPolicy.MAX_LOST_NANOS));
        now += SpinPolicy.LOST_SHARE * SpinPolicy.MAX_LOST_NANOS;
        assertThatLoopRests(found, SECOND, SpinPolicy.MAX_REST_NANOS);
    }

    private void assertThatLoopRests(boolean found, long preempted, long rest) {
        assertThat(policy.begin(now, false)).isTrue();
        preemptions++;
        long restEnd = now + rest;
        now += preempted;
        if (found) {
            policy.found(now);
        } else {
            assertThat(policy.foundNothing(now)).isFalse();
        }
        sleep(40_000);
        sleep(40_000);
        now = restEnd - 100_000;
        assertThat(policy.state(now)).isEqualTo(PREEMPTED);
        now = restEnd + 100_000;
        assertThat(policy.state(now)).isEqualTo(ACTIVE);
    }

    @Test
    void shortPreemptionsNowAndThenAreNoReasonToStop() {
        becomeActive();
        for (int i = 0; i < 100; i++) {
            assertThat(policy.begin(now, false)).isTrue();
            preemptions++;
            now += 3 * MILLI;
            policy.found(now);
            assertThat(policy.state(now)).isEqualTo(ACTIVE);
            now += 250 * MILLI;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void preemptionsInWorkOrSleepAreNotThoseOfPolling(boolean sleep) {
        becomeActive();
        for (int i = 0; i < 2 * SpinPolicy.MAX_LOST_NANOS / SpinPolicy.JUMP_NANOS; i++) {
            assertThat(policy.begin(now, false)).isTrue();
            preemptions++;
            if (sleep) {
                policy.woke(now += 40_000);
            } else {
                policy.found(now);
                now += 40_000;
            }
            assertThat(policy.begin(now, false)).isTrue();
            policy.found(now += SpinPolicy.JUMP_NANOS + 1000);
        }
    }

    @Test
    void preemptionsBeforeASleepAreNotThoseOfPolling() {
        becomeActive();
        assertThat(policy.begin(now, false)).isTrue();
        preemptions++;
        policy.found(now += 20 * MILLI);
        assertThat(policy.begin(now, false)).isFalse();
        preemptions++;
        policy.found(now += SECOND);
        assertThat(policy.state(now)).isEqualTo(ACTIVE);
    }

    @Test
    void pauseOfTheVirtualMachineIsNoPreemption() {
        becomeActive();
        assertThat(policy.begin(now, false)).isTrue();
        assertThat(policy.foundNothing(now += 3 * MILLI)).isTrue();
        policy.found(now);
        assertThat(policy.state(now)).isEqualTo(ACTIVE);
    }

    @Property(tries = 60)
    void twoEndsStopSleepingWithinMillisecondsWhateverAWakeUpCosts(
            @ForAll @IntRange(min = 2, max = 90) int wakeUpMicros, @ForAll @IntRange(min = 1, max = 20) int workMicros,
            @ForAll @IntRange(min = 1, max = 16) int inFlight) {
        SimulatedMachine machine = new SimulatedMachine(2, wakeUpMicros * 1000L);
        Pair pair = machine.new Pair(MAX_SPIN, workMicros * 1000L);
        for (int i = 0; i < inFlight; i++) {
            pair.send();
        }
        assertThatNobodySleeps(machine, pair);
    }

    @Property(tries = 30)
    void twoEndsFindEachOtherAgainAfterAQuietTime(
            @ForAll @IntRange(min = 2, max = 90) int wakeUpMicros,
            @ForAll @IntRange(min = 1, max = 20) int workMicros) {
        SimulatedMachine machine = new SimulatedMachine(2, wakeUpMicros * 1000L);
        Pair pair = machine.new Pair(MAX_SPIN, workMicros * 1000L);
        pair.pauseNanos = 5 * MILLI;
        pair.send();
        machine.run(SECOND / 2);
        pair.pauseNanos = 0;
        assertThatNobodySleeps(machine, pair);
    }

    private static void assertThatNobodySleeps(SimulatedMachine machine, Pair pair) {
        machine.run(20 * MILLI);
        pair.takeSleeps();
        pair.takeRoundTrips();
        machine.run(100 * MILLI);
        assertThat(pair.takeSleeps()).isZero();
        assertThat(pair.takeRoundTrips()).isPositive();
    }

    /** Each end waits for as long as the other one works, which takes more of the processor than a sleep would. */
    @Property(tries = 15)
    void endsThatWorkInTurnDoAsMuchAsThoseThatNeverSleep(
            @ForAll @IntRange(min = 2, max = 40) int wakeUpMicros,
            @ForAll @IntRange(min = 1, max = 120) int workMicros) {
        SimulatedMachine[] machines = twoMachines(wakeUpMicros);
        assertThat(roundTrips(machines[0], MAX_SPIN, workMicros, 1))
                .isGreaterThan(roundTrips(machines[1], SimulatedMachine.NEVER_SLEEP, workMicros, 1) * 95 / 100);
    }

    @Property(tries = 15)
    void pausesOfTheVirtualMachineCostLittleMoreThanThemselves(
            @ForAll @IntRange(min = 2, max = 40) int wakeUpMicros, @ForAll @IntRange(min = 1, max = 30) int workMicros,
            @ForAll @IntRange(min = 50, max = 5000) int pauseMicros, @ForAll @IntRange(min = 1, max = 20) int percent,
            @ForAll long seed) {
        SimulatedMachine[] machines = twoMachines(wakeUpMicros);
        for (SimulatedMachine machine : machines) {
            machine.startPauses(percent / 100.0, pauseMicros * 1000L, seed);
        }
        assertThat(roundTrips(machines[0], MAX_SPIN, workMicros, 1))
                .isGreaterThan(roundTrips(machines[1], SimulatedMachine.NEVER_SLEEP, workMicros, 1) * 80 / 100);
    }

    /** Three pairs beside one busy thread are the worst case. Most do as much as loops that never spin, or more. */
    @Property(tries = 15)
    void loopsOnABusyMachineDoNotMuchLessThanLoopsThatNeverSpin(@ForAll @IntRange(min = 2, max = 60) int wakeUpMicros,
            @ForAll @IntRange(min = 2, max = 20) int workMicros, @ForAll @IntRange(min = 1, max = 3) int busyThreads,
            @ForAll @IntRange(min = 1, max = 4) int pairs) {
        SimulatedMachine[] machines = twoMachines(wakeUpMicros);
        for (SimulatedMachine machine : machines) {
            for (int i = 0; i < busyThreads; i++) {
                machine.startBusyThread();
            }
        }
        assertThat(roundTrips(machines[0], MAX_SPIN, workMicros, pairs))
                .isGreaterThan(roundTrips(machines[1], 0, workMicros, pairs) * 70 / 100);
    }

    /** Two equal ones: for loops with the policy, and for those that they are compared with. */
    private static SimulatedMachine[] twoMachines(int wakeUpMicros) {
        return new SimulatedMachine[] { new SimulatedMachine(2, wakeUpMicros * 1000L),
            new SimulatedMachine(2, wakeUpMicros * 1000L) };
    }

    private static int roundTrips(SimulatedMachine machine, long maxSpin, int workMicros, int pairs) {
        List<Pair> all = Stream.generate(() -> machine.new Pair(maxSpin, workMicros * 1000L)).limit(pairs).toList();
        all.forEach(Pair::send);
        machine.run(SECOND / 4);
        all.forEach(Pair::takeRoundTrips);
        machine.run(SECOND / 4);
        int roundTrips = all.stream().mapToInt(Pair::takeRoundTrips).sum();
        assertThat(roundTrips).isPositive();
        return roundTrips;
    }

    @Property(tries = 30)
    void loopSpinsUnderOnePercentOfTheTimeWhenMessagesAreFarApartAlsoRightAfterABurst(
            @ForAll @IntRange(min = 2, max = 90) int wakeUpMicros,
            @ForAll @IntRange(min = 1, max = 100) int pauseMillis) {
        SimulatedMachine machine = new SimulatedMachine(2, wakeUpMicros * 1000L);
        Pair pair = machine.new Pair(MAX_SPIN, 1000);
        pair.send();
        machine.run(100 * MILLI);
        pair.pauseNanos = pauseMillis * MILLI;
        pair.client.spunNanos = pair.server.spunNanos = 0;
        pair.takeRoundTrips();
        machine.run(SECOND);
        assertThat(pair.takeRoundTrips()).isPositive();
        assertThat(Math.max(pair.client.spunNanos, pair.server.spunNanos)).isLessThan(SECOND / 100);
    }

    @Test
    void waitsForAnswersAreLearntApartFromOthers() {
        for (int i = 0; i < 10; i++) {
            assertThat(policy.begin(now, true)).isEqualTo(i > 0);
            policy.found(now += 5000);
            sleep(MILLI);
        }
    }

    @Test
    void pollsThatTakeLongerThanAWakeUpArePaidForAlthoughTheyFindSomething() {
        becomeActive();
        int waits = 0;
        for (; waits < 1000 && policy.begin(now, false); waits++) {
            policy.foundNothing(now += 60_000);
            policy.found(now += 60_000);
        }
        assertThat(policy.state(now)).isEqualTo(OVERSPENT);
        assertThat(waits).isLessThan(30);
    }

    @Test
    void whatAWakeUpCostsIsLearnt() {
        for (int i = 0; i < 100; i++) {
            policy.begin(now, false);
            policy.woke(now += 12_000);
        }
        int waits = 0;
        for (; waits < 1000 && policy.begin(now, false); waits++) {
            policy.found(now += 20_000);
        }
        assertThat(policy.state(now)).isEqualTo(OVERSPENT);
        assertThat(waits).isBetween(20, 500);
    }

    @Test
    void sleepsUntilTheNextTimerDoNotMakeSleepsUntilAnAnswerLookExpensive() {
        for (int i = 0; i < 100; i++) {
            policy.begin(now, true);
            policy.woke(now += 12_000);
        }
        int waits = 0;
        for (; waits < 1000 && policy.begin(now, true); waits++) {
            policy.found(now += 20_000);
            policy.begin(now, false);
            policy.woke(now += 300_000);
        }
        assertThat(policy.state(now)).isEqualTo(OVERSPENT);
        assertThat(waits).isBetween(20, 500);
    }

    @Property(tries = 30)
    void pacedSenderPollsForItsAnswersAndSleepsBetweenThem(
            @ForAll @IntRange(min = 10, max = 45) int wakeUpMicros,
            @ForAll @IntRange(min = 500, max = 5000) int periodMicros) {
        SimulatedMachine machine = new SimulatedMachine(2, wakeUpMicros * 1000L);
        Pair pair = machine.new Pair(MAX_SPIN, 1000);
        pair.sendPaced(periodMicros * 1000L, Integer.MAX_VALUE);
        machine.run(SECOND);
        pair.takeSleeps();
        pair.takeRoundTrips();
        pair.client.spunNanos = pair.server.spunNanos = 0;
        machine.run(SECOND);
        int messages = pair.takeRoundTrips();
        assertThat(messages).isPositive();
        assertThat(pair.takeSleeps()).isCloseTo(2 * messages, withinPercentage(5));
        assertThat(pair.client.spunNanos).isLessThan(messages * (wakeUpMicros + 10) * 1000L + SECOND / 100);
        long work = messages * (wakeUpMicros + 1) * 1000L;
        assertThat(pair.server.spunNanos).isLessThan(2 * work / SpinPolicy.VAIN_SHARE + 2 * MAX_SPIN);
    }
}
