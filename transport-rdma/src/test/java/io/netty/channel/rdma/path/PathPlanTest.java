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
package io.netty.channel.rdma.path;

import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.rdma.verbs.ConnectionRejectedException;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
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
 * The rules one by one; what comes of them in a cluster is in {@link PathSimulationTest}.
 */
class PathPlanTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    /** RFC 5737: an address for documentation. */
    private static final Destination PEER = new Destination(new InetSocketAddress("192.0.2.1", 7));
    private static final Object WHY = "why";

    private enum Way { NEAR, FAR }

    private final MockTicker clock = Ticker.newMockTicker();
    private final PathMemory memory = new PathMemory(10, clock);

    private PathPlan<Way> plan(PathRules rules, long total, long remember, Way... paths) {
        return new PathPlan<>(rules, List.of(paths), PEER, memory, new PathPlan.Times(total, SECOND, remember), clock);
    }

    private PathPlan<Way> plan(PathRules rules) {
        return plan(rules, 10 * SECOND, 30 * SECOND, Way.NEAR, Way.FAR);
    }

    private void pass(long nanos) {
        clock.advance(nanos, TimeUnit.NANOSECONDS);
    }

    /** It has not answered within its time. */
    private boolean timesOut(PathPlan<Way> plan) {
        pass(plan.limitNanos());
        return plan.failed(PathFailure.TIMEOUT, WHY);
    }

    @ParameterizedTest
    @EnumSource
    void nearestPathIsTriedFirstAndTheLastResortGetsTheRestOfTheTime(PathRules rules) {
        PathPlan<Way> plan = plan(rules);
        assertThat(plan.next()).isEqualTo(Way.NEAR);
        assertThat(plan.limitNanos()).isEqualTo(SECOND);
        pass(SECOND / 4);
        assertThat(plan.failed(PathFailure.REFUSED, WHY)).isTrue();
        assertThat(plan.next()).isEqualTo(Way.FAR);
        assertThat(plan.limitNanos()).isEqualTo(10 * SECOND - SECOND / 4);
        assertThat(plan.failed(PathFailure.REFUSED, WHY)).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void anAttemptGetsAtMostHalfOfAllTime(PathRules rules) {
        PathPlan<Way> plan = plan(rules, SECOND, SECOND, Way.NEAR, Way.FAR);
        plan.next();
        assertThat(plan.limitNanos()).isEqualTo(SECOND / 2);
        PathPlan<Way> unlimited = plan(rules, 0, SECOND, Way.NEAR, Way.FAR);
        unlimited.next();
        assertThat(unlimited.limitNanos()).isEqualTo(SECOND);
        unlimited.failed(PathFailure.REFUSED, WHY);
        unlimited.next();
        assertThat(unlimited.limitNanos()).isZero();
    }

    @Test
    void silenceOfAListenerIsRememberedAndHeardOnceMoreAtTheEnd() {
        PathPlan<Way> plan = plan(PathRules.PROVIDERS);
        plan.next();
        assertThat(timesOut(plan)).isTrue();
        assertThat(memory.get(PEER, Way.NEAR).why()).isEqualTo(WHY);
        assertThat(plan.next()).isEqualTo(Way.FAR);
        assertThat(plan.limitNanos()).as("all but what the other one gets").isEqualTo(8 * SECOND);
        assertThat(plan.failed(PathFailure.REFUSED, WHY)).isTrue();
        assertThat(plan.next()).isEqualTo(Way.NEAR);
        assertThat(plan.limitNanos()).isEqualTo(9 * SECOND);
        assertThat(plan.failed(PathFailure.TIMEOUT, WHY)).isFalse();
    }

    @Test
    void silenceOfRdmaIsNotHeardTwice() {
        PathPlan<Way> plan = plan(PathRules.TRANSPORTS);
        plan.next();
        assertThat(timesOut(plan)).isTrue();
        assertThat(memory.get(PEER, Way.NEAR)).isNotNull();
        assertThat(plan.next()).isEqualTo(Way.FAR);
        assertThat(plan.limitNanos()).isEqualTo(9 * SECOND);
        assertThat(plan.failed(PathFailure.REFUSED, WHY)).isFalse();
    }

    @Test
    void refusalOfThisHostIsNotRemembered() {
        PathPlan<Way> plan = plan(PathRules.PROVIDERS);
        plan.next();
        assertThat(plan.failed(PathFailure.REFUSED, WHY)).isTrue();
        PathPlan<Way> other = plan(PathRules.PROVIDERS);
        other.next();
        assertThat(other.failed(PathFailure.NO_ROUTE, WHY)).isTrue();
        assertThat(memory.size()).isZero();
    }

    @Test
    void rejectionIsAnAnswerToProvidersAndNoneToTransports() {
        PathPlan<Way> providers = plan(PathRules.PROVIDERS);
        providers.next();
        assertThat(providers.failed(PathFailure.REJECTED, WHY)).isFalse();
        PathPlan<Way> transports = plan(PathRules.TRANSPORTS);
        transports.next();
        assertThat(transports.failed(PathFailure.REJECTED, WHY)).isTrue();
        assertThat(memory.size()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void whatFailsAtOnceIsNotRememberedAndWhatTakesLongIs(PathRules rules) {
        PathPlan<Way> quick = plan(rules);
        quick.next();
        assertThat(quick.failed(PathFailure.NETWORK, WHY)).isTrue();
        assertThat(memory.size()).isZero();
        PathPlan<Way> slow = plan(rules);
        slow.next();
        pass(SECOND / 2);
        assertThat(slow.failed(PathFailure.NETWORK, WHY)).isTrue();
        assertThat(memory.get(PEER, Way.NEAR)).isNotNull();
    }

    @Test
    void rememberedPathIsTriedAfterTheOthersWhichLeaveItTime() {
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        pass(SECOND);
        PathPlan<Way> plan = plan(PathRules.TRANSPORTS);
        assertThat(plan.remembered().why()).isEqualTo(WHY);
        assertThat(plan.remembered().ageNanos()).isEqualTo(SECOND);
        assertThat(plan.next()).isEqualTo(Way.FAR);
        assertThat(plan.limitNanos()).isEqualTo(9 * SECOND);
        assertThat(plan.failed(PathFailure.REFUSED, WHY)).isTrue();
        assertThat(plan.next()).isEqualTo(Way.NEAR);
        assertThat(plan.limitNanos()).isEqualTo(SECOND);
        plan.connected();
        assertThat(memory.size()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void peerThatNoPathReachesIsDownSoNothingIsRemembered(PathRules rules) {
        PathPlan<Way> plan = plan(rules);
        plan.next();
        assertThat(timesOut(plan)).isTrue();
        assertThat(memory.size()).isOne();
        while (plan.hasNext()) {
            plan.next();
            plan.failed(PathFailure.REFUSED, WHY);
        }
        assertThat(memory.size()).isZero();
    }

    @Test
    void whatWasRememberedBeforeThePeerWentDownIsForgotten() {
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        PathPlan<Way> tried = plan(PathRules.TRANSPORTS);
        tried.next();
        assertThat(tried.failed(PathFailure.REFUSED, WHY)).isTrue();
        tried.next();
        assertThat(tried.failed(PathFailure.REFUSED, WHY)).isFalse();
        assertThat(memory.size()).isZero();
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        PathPlan<Way> withoutTime = plan(PathRules.TRANSPORTS);
        withoutTime.next();
        pass(10 * SECOND);
        assertThat(withoutTime.failed(PathFailure.TIMEOUT, WHY)).isFalse();
        assertThat(memory.size()).isZero();
    }

    @Test
    void singlePathThatFailsIsNotRememberedAsNobodyKnowsOfTheOthers() {
        PathPlan<Way> plan = plan(PathRules.TRANSPORTS, 10 * SECOND, 30 * SECOND, Way.NEAR);
        plan.next();
        assertThat(plan.failed(PathFailure.REFUSED, WHY)).isFalse();
        assertThat(memory.size()).isZero();
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        PathPlan<Way> next = plan(PathRules.TRANSPORTS, 10 * SECOND, 30 * SECOND, Way.NEAR);
        next.next();
        next.connected();
        assertThat(memory.size()).as("it works").isZero();
    }

    @Test
    void endOfAConnectionForgetsWhatWasRememberedMeanwhile() {
        PathPlan<Way> plan = plan(PathRules.TRANSPORTS);
        plan.next();
        plan.connected();
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        plan.forget();
        assertThat(memory.size()).isZero();
    }

    @Test
    void silenceHasItsOwnTime() {
        PathPlan<Way> plan = new PathPlan<>(PathRules.TRANSPORTS, List.of(Way.values()), PEER, memory,
                new PathPlan.Times(10 * SECOND, SECOND, 30 * SECOND, SECOND), clock);
        plan.next();
        assertThat(timesOut(plan)).isTrue();
        pass(SECOND - 1);
        assertThat(memory.get(PEER, Way.NEAR)).isNotNull();
        pass(1);
        assertThat(memory.get(PEER, Way.NEAR)).isNull();
    }

    @Test
    void rememberedPathIsNotTriedWithoutTime() {
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        PathPlan<Way> plan = plan(PathRules.TRANSPORTS);
        plan.next();
        pass(10 * SECOND);
        assertThat(plan.failed(PathFailure.TIMEOUT, WHY)).isFalse();
    }

    @Test
    void oneConnectTriesWhatWasRememberedWhenItsTimeIsOver() {
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        pass(30 * SECOND);
        PathPlan<Way> first = plan(PathRules.TRANSPORTS);
        assertThat(first.next()).isEqualTo(Way.NEAR);
        assertThat(plan(PathRules.TRANSPORTS).next()).isEqualTo(Way.FAR);
        first.connected();
        assertThat(plan(PathRules.TRANSPORTS).next()).isEqualTo(Way.NEAR);
    }

    @Test
    void whoIsNotHeardOfAnyMoreDoesNotKeepOthersFromTrying() {
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        pass(30 * SECOND);
        plan(PathRules.TRANSPORTS);
        pass(SECOND);
        assertThat(plan(PathRules.TRANSPORTS).next()).isEqualTo(Way.NEAR);
    }

    @Test
    void lastResortIsNeitherPassedOverNorRemembered() {
        memory.remember(PEER, Way.FAR, WHY, 30 * SECOND);
        PathPlan<Way> plan = plan(PathRules.TRANSPORTS, 10 * SECOND, 30 * SECOND, Way.FAR);
        assertThat(plan.remembered()).isNull();
        assertThat(plan.next()).isEqualTo(Way.FAR);
        assertThat(plan.limitNanos()).isEqualTo(10 * SECOND);
        memory.clear();
        PathPlan<Way> both = plan(PathRules.TRANSPORTS);
        both.next();
        both.failed(PathFailure.REJECTED, WHY);
        both.next();
        both.failed(PathFailure.TIMEOUT, WHY);
        assertThat(memory.size()).isZero();
    }

    @Test
    void withoutATimeToRememberNothingIsAskedNorRemembered() {
        memory.remember(PEER, Way.NEAR, WHY, 30 * SECOND);
        PathPlan<Way> plan = plan(PathRules.TRANSPORTS, 10 * SECOND, 0, Way.NEAR, Way.FAR);
        assertThat(plan.next()).isEqualTo(Way.NEAR);
        plan.connected();
        assertThat(memory.size()).isOne();
    }

    @Test
    void exceptionsAreToldApart() {
        assertThat(PathFailure.of(new ConnectionRejectedException("", ConnectionRejectedException.Reason.REFUSED,
                new byte[0]))).isEqualTo(PathFailure.REFUSED);
        assertThat(PathFailure.of(new ConnectionRejectedException("", ConnectionRejectedException.Reason.VERSION,
                new byte[0]))).isEqualTo(PathFailure.VERSION);
        assertThat(PathFailure.of(new IOException(new ConnectionRejectedException("",
                ConnectionRejectedException.Reason.REJECTED, new byte[0])))).isEqualTo(PathFailure.REJECTED);
        assertThat(PathFailure.of(new ConnectTimeoutException())).isEqualTo(PathFailure.TIMEOUT);
        assertThat(PathFailure.of(new NoRouteToHostException())).isEqualTo(PathFailure.NO_ROUTE);
        assertThat(PathFailure.of(new NoRdmaDeviceException(""))).isEqualTo(PathFailure.NO_ROUTE);
        assertThat(PathFailure.of(new ConnectException())).isEqualTo(PathFailure.NETWORK);
        assertThat(PathFailure.of(new IOException())).isEqualTo(PathFailure.OTHER);
    }
}
