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

import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.rdma.verbs.ConnectionRejectedException;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules one by one; what comes of them in a cluster is in {@link AttemptSimulationTest}.
 */
@Tag("quick")
class AttemptPlanTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    /** RFC 5737: an address for documentation. */
    private static final Destination PEER = new Destination(new InetSocketAddress("192.0.2.1", 7));
    private static final Object WHY = "why";

    private enum Way { NEAR, FAR }

    private final MockTicker clock = Ticker.newMockTicker();
    private final RecentFailures memory = new RecentFailures(10, clock);

    private AttemptPlan<Way> plan(AttemptRules rules, long total, long remember, Way... candidates) {
        return new AttemptPlan<>(rules, List.of(candidates), PEER, memory,
                new AttemptPlan.Times(total, SECOND, remember), clock);
    }

    private AttemptPlan<Way> plan(AttemptRules rules) {
        return plan(rules, 10 * SECOND, 30 * SECOND, Way.NEAR, Way.FAR);
    }

    private void pass(long nanos) {
        clock.advance(nanos, TimeUnit.NANOSECONDS);
    }

    /** Ends an attempt without an answer in its time. */
    private boolean timesOut(AttemptPlan<Way> plan) {
        pass(plan.limitNanos());
        return plan.failed(AttemptFailure.TIMEOUT, WHY);
    }

    @ParameterizedTest
    @EnumSource
    void nearestCandidateIsTriedFirstAndTheLastResortGetsTheRestOfTheTime(AttemptRules rules) {
        AttemptPlan<Way> plan = plan(rules);
        assertThat(plan.next()).isEqualTo(Way.NEAR);
        assertThat(plan.limitNanos()).isEqualTo(SECOND);
        pass(SECOND / 4);
        assertThat(plan.failed(AttemptFailure.REFUSED, WHY)).isTrue();
        assertThat(plan.next()).isEqualTo(Way.FAR);
        assertThat(plan.limitNanos()).isEqualTo(10 * SECOND - SECOND / 4);
        assertThat(plan.failed(AttemptFailure.REFUSED, WHY)).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void anAttemptGetsAtMostHalfOfAllTime(AttemptRules rules) {
        AttemptPlan<Way> plan = plan(rules, SECOND, SECOND, Way.NEAR, Way.FAR);
        plan.next();
        assertThat(plan.limitNanos()).isEqualTo(SECOND / 2);
        AttemptPlan<Way> unlimited = plan(rules, 0, SECOND, Way.NEAR, Way.FAR);
        unlimited.next();
        assertThat(unlimited.limitNanos()).isEqualTo(SECOND);
        unlimited.failed(AttemptFailure.REFUSED, WHY);
        unlimited.next();
        assertThat(unlimited.limitNanos()).isZero();
    }

    @Test
    void silenceOfAListenerIsRememberedAndHeardOnceMoreAtTheEnd() {
        AttemptPlan<Way> plan = plan(AttemptRules.PROVIDERS);
        plan.next();
        assertThat(timesOut(plan)).isTrue();
        assertThat(memory.get(PEER, Way.NEAR).why()).isEqualTo(WHY);
        assertThat(plan.next()).isEqualTo(Way.FAR);
        assertThat(plan.limitNanos()).as("all but what the other one gets").isEqualTo(8 * SECOND);
        assertThat(plan.failed(AttemptFailure.REFUSED, WHY)).isTrue();
        assertThat(plan.next()).isEqualTo(Way.NEAR);
        assertThat(plan.limitNanos()).isEqualTo(9 * SECOND);
        assertThat(plan.failed(AttemptFailure.TIMEOUT, WHY)).isFalse();
    }

    @Test
    void silenceOfRdmaIsNotHeardTwice() {
        AttemptPlan<Way> plan = plan(AttemptRules.TRANSPORTS);
        plan.next();
        assertThat(timesOut(plan)).isTrue();
        assertThat(memory.get(PEER, Way.NEAR)).isNotNull();
        assertThat(plan.next()).isEqualTo(Way.FAR);
        assertThat(plan.limitNanos()).isEqualTo(9 * SECOND);
        assertThat(plan.failed(AttemptFailure.REFUSED, WHY)).isFalse();
    }

    @Test
    void refusalOfThisHostIsNotRemembered() {
        AttemptPlan<Way> plan = plan(AttemptRules.PROVIDERS);
        plan.next();
        assertThat(plan.failed(AttemptFailure.REFUSED, WHY)).isTrue();
        AttemptPlan<Way> other = plan(AttemptRules.PROVIDERS);
        other.next();
        assertThat(other.failed(AttemptFailure.NO_ROUTE, WHY)).isTrue();
        assertThat(memory.size()).isZero();
    }

    @Test
    void rejectionIsAnAnswerToProvidersAndNoneToTransports() {
        AttemptPlan<Way> providers = plan(AttemptRules.PROVIDERS);
        providers.next();
        assertThat(providers.failed(AttemptFailure.REJECTED, WHY)).isFalse();
        AttemptPlan<Way> transports = plan(AttemptRules.TRANSPORTS);
        transports.next();
        assertThat(transports.failed(AttemptFailure.REJECTED, WHY)).isTrue();
        assertThat(memory.size()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void whatFailsAtOnceIsNotRememberedAndWhatTakesLongIs(AttemptRules rules) {
        AttemptPlan<Way> quick = plan(rules);
        quick.next();
        assertThat(quick.failed(AttemptFailure.NETWORK, WHY)).isTrue();
        assertThat(memory.size()).isZero();
        AttemptPlan<Way> slow = plan(rules);
        slow.next();
        pass(SECOND / 2);
        assertThat(slow.failed(AttemptFailure.NETWORK, WHY)).isTrue();
        assertThat(memory.get(PEER, Way.NEAR)).isNotNull();
    }

    @Test
    void rememberedCandidateIsTriedAfterTheOthersWhichLeaveItTime() {
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        pass(SECOND);
        AttemptPlan<Way> plan = plan(AttemptRules.TRANSPORTS);
        assertThat(plan.remembered().why()).isEqualTo(WHY);
        assertThat(plan.remembered().ageNanos()).isEqualTo(SECOND);
        assertThat(plan.next()).isEqualTo(Way.FAR);
        assertThat(plan.limitNanos()).isEqualTo(9 * SECOND);
        assertThat(plan.failed(AttemptFailure.REFUSED, WHY)).isTrue();
        assertThat(plan.next()).isEqualTo(Way.NEAR);
        assertThat(plan.limitNanos()).isEqualTo(SECOND);
        plan.connected();
        assertThat(memory.size()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void peerThatNoCandidateReachesIsDownSoNothingIsRemembered(AttemptRules rules) {
        AttemptPlan<Way> plan = plan(rules);
        plan.next();
        assertThat(timesOut(plan)).isTrue();
        assertThat(memory.size()).isOne();
        while (plan.hasNext()) {
            plan.next();
            plan.failed(AttemptFailure.REFUSED, WHY);
        }
        assertThat(memory.size()).isZero();
    }

    @Test
    void whatWasRememberedBeforeThePeerWentDownIsForgotten() {
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        AttemptPlan<Way> tried = plan(AttemptRules.TRANSPORTS);
        tried.next();
        assertThat(tried.failed(AttemptFailure.REFUSED, WHY)).isTrue();
        tried.next();
        assertThat(tried.failed(AttemptFailure.REFUSED, WHY)).isFalse();
        assertThat(memory.size()).isZero();
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        AttemptPlan<Way> withoutTime = plan(AttemptRules.TRANSPORTS);
        withoutTime.next();
        pass(10 * SECOND);
        assertThat(withoutTime.failed(AttemptFailure.TIMEOUT, WHY)).isFalse();
        assertThat(memory.size()).isZero();
    }

    @Test
    void singleCandidateThatFailsIsNotRememberedAsNobodyKnowsOfTheOthers() {
        AttemptPlan<Way> plan = plan(AttemptRules.TRANSPORTS, 10 * SECOND, 30 * SECOND, Way.NEAR);
        plan.next();
        assertThat(plan.failed(AttemptFailure.REFUSED, WHY)).isFalse();
        assertThat(memory.size()).isZero();
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        AttemptPlan<Way> next = plan(AttemptRules.TRANSPORTS, 10 * SECOND, 30 * SECOND, Way.NEAR);
        next.next();
        next.connected();
        assertThat(memory.size()).as("it works").isZero();
    }

    @Test
    void endOfAConnectionForgetsWhatWasRememberedMeanwhile() {
        AttemptPlan<Way> plan = plan(AttemptRules.TRANSPORTS);
        plan.next();
        plan.connected();
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        plan.forget();
        assertThat(memory.size()).isZero();
    }

    @Test
    void silenceHasItsOwnTime() {
        AttemptPlan<Way> plan = new AttemptPlan<>(AttemptRules.TRANSPORTS, List.of(Way.values()), PEER, memory,
                new AttemptPlan.Times(10 * SECOND, SECOND, 30 * SECOND, SECOND), clock);
        plan.next();
        assertThat(timesOut(plan)).isTrue();
        pass(SECOND - 1);
        assertThat(memory.get(PEER, Way.NEAR)).isNotNull();
        pass(1);
        assertThat(memory.get(PEER, Way.NEAR)).isNull();
    }

    @Test
    void rememberedCandidateIsNotTriedWithoutTime() {
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        AttemptPlan<Way> plan = plan(AttemptRules.TRANSPORTS);
        plan.next();
        pass(10 * SECOND);
        assertThat(plan.failed(AttemptFailure.TIMEOUT, WHY)).isFalse();
    }

    @Test
    void oneConnectTriesWhatWasRememberedWhenItsTimeIsOver() {
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        pass(30 * SECOND);
        AttemptPlan<Way> first = plan(AttemptRules.TRANSPORTS);
        assertThat(first.next()).isEqualTo(Way.NEAR);
        assertThat(plan(AttemptRules.TRANSPORTS).next()).isEqualTo(Way.FAR);
        first.connected();
        assertThat(plan(AttemptRules.TRANSPORTS).next()).isEqualTo(Way.NEAR);
    }

    @Test
    void whoIsNotHeardOfAnyMoreDoesNotKeepOthersFromTrying() {
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        pass(30 * SECOND);
        plan(AttemptRules.TRANSPORTS);
        pass(SECOND);
        assertThat(plan(AttemptRules.TRANSPORTS).next()).isEqualTo(Way.NEAR);
    }

    @Test
    void lastResortIsNeitherPassedOverNorRemembered() {
        memory.remember(PEER, Way.FAR, WHY, 30 * SECOND);
        AttemptPlan<Way> plan = plan(AttemptRules.TRANSPORTS, 10 * SECOND, 30 * SECOND, Way.FAR);
        assertThat(plan.remembered()).isNull();
        assertThat(plan.next()).isEqualTo(Way.FAR);
        assertThat(plan.limitNanos()).isEqualTo(10 * SECOND);
        memory.clear();
        AttemptPlan<Way> both = plan(AttemptRules.TRANSPORTS);
        both.next();
        both.failed(AttemptFailure.REJECTED, WHY);
        both.next();
        both.failed(AttemptFailure.TIMEOUT, WHY);
        assertThat(memory.size()).isZero();
    }

    @Test
    void withoutATimeToRememberNothingIsAskedNorRemembered() {
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        AttemptPlan<Way> plan = plan(AttemptRules.TRANSPORTS, 10 * SECOND, 0, Way.NEAR, Way.FAR);
        assertThat(plan.next()).isEqualTo(Way.NEAR);
        plan.connected();
        assertThat(memory.size()).isOne();
    }

    @Test
    void exceptionsAreToldApart() {
        assertThat(AttemptFailure.of(new ConnectionRejectedException("", ConnectionRejectedException.Reason.REFUSED,
                new byte[0]))).isEqualTo(AttemptFailure.REFUSED);
        assertThat(AttemptFailure.of(new ConnectionRejectedException("", ConnectionRejectedException.Reason.VERSION,
                new byte[0]))).isEqualTo(AttemptFailure.VERSION);
        assertThat(AttemptFailure.of(new IOException(new ConnectionRejectedException("",
                ConnectionRejectedException.Reason.REJECTED, new byte[0])))).isEqualTo(AttemptFailure.REJECTED);
        assertThat(AttemptFailure.of(new ConnectTimeoutException())).isEqualTo(AttemptFailure.TIMEOUT);
        assertThat(AttemptFailure.of(new NoRouteToHostException())).isEqualTo(AttemptFailure.NO_ROUTE);
        assertThat(AttemptFailure.of(new NoRdmaDeviceException(""))).isEqualTo(AttemptFailure.NO_ROUTE);
        assertThat(AttemptFailure.of(new ConnectException())).isEqualTo(AttemptFailure.NETWORK);
        assertThat(AttemptFailure.of(new IOException())).isEqualTo(AttemptFailure.OTHER);
    }
}
