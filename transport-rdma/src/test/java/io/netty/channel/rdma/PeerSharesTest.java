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
package io.netty.channel.rdma;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/** Shares of peers in what half-open connections may use. */
class PeerSharesTest {
    private static final int LIMIT = 240;

    private final PeerShares shares = new PeerShares();

    private int takeAll(Object peer) {
        int taken = 0;
        while (shares.take(peer, 1, LIMIT)) {
            taken++;
        }
        return taken;
    }

    @Test
    void onePeerGetsHalfAndThereIsSomeLeftForOthers() {
        assertThat(takeAll("a")).isEqualTo(LIMIT / 2);
        assertThat(takeAll("b")).isEqualTo(LIMIT / 4);
        for (int peer = 0; peer < 5; peer++) {
            assertThat(takeAll(peer)).isPositive();
        }
        assertThat(shares.take("a", 1, LIMIT)).isFalse();
    }

    @Test
    void peersThatRefillLeaveAsMuchForAnother() {
        takeAll("a");
        for (int i = 0; i < LIMIT; i++) {
            takeAll("b");
            shares.giveBack("a", 1);
            takeAll("b");
            takeAll("a");
        }
        assertThat(takeAll("c")).isBetween(LIMIT / 7, LIMIT / 3);
    }

    @Test
    void oneShareIsAlwaysPossible() {
        assertThat(shares.take("a", 10, 1)).isTrue();
        assertThat(shares.take("a", 10, 1)).isFalse();
        assertThat(shares.take("b", 10, 1)).isFalse();
        shares.giveBack("a", 10);
        assertThat(shares.take("b", 10, 1)).isTrue();
    }

    @Test
    void waitingTaskRunsOnceWhenSomethingIsGivenBack() {
        AtomicInteger told = new AtomicInteger();
        takeAll("a");
        shares.await(told::incrementAndGet);
        Runnable forgotten = () -> {
            throw new AssertionError();
        };
        shares.await(forgotten);
        shares.forget(forgotten);
        assertThat(told).hasValue(0);
        shares.giveBack("a", 1);
        shares.giveBack("a", 1);
        assertThat(told).hasValue(1);
    }

    @Test
    void requestsOfAPeerAreTakenInOrderAndThoseOfPeersInTurn() {
        RequestQueue<String> queue = new RequestQueue<>();
        for (String request : List.of("a1", "a2", "a3", "b1", "b2", "c1")) {
            queue.add(request.charAt(0), request);
        }
        List<String> taken = new ArrayList<>();
        assertThat(queue.remove("b1")).isTrue();
        assertThat(queue.remove("b1")).isFalse();
        Predicate<String> notOfB = request -> request.charAt(0) != 'b';
        for (String request; (request = queue.poll(notOfB)) != null;) {
            taken.add(request);
        }
        assertThat(taken).containsExactly("a1", "c1", "a2", "a3");
        assertThat(queue.isEmpty()).isFalse();
        assertThat(queue.poll(request -> true)).isEqualTo("b2");
        assertThat(queue.isEmpty()).isTrue();
    }
}
