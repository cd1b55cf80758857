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

import io.netty.channel.rdma.HalfTheTries;
import io.netty.channel.rdma.attempt.SimulatedCluster.Peer;
import io.netty.channel.rdma.attempt.SimulatedCluster.Settings;
import io.netty.channel.rdma.attempt.SimulatedCluster.State;
import io.netty.channel.rdma.attempt.SimulatedCluster.Way;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.statistics.Statistics;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Random;

import static io.netty.channel.rdma.attempt.SimulatedCluster.MILLI;
import static io.netty.channel.rdma.attempt.SimulatedCluster.SECOND;
import static io.netty.channel.rdma.attempt.SimulatedCluster.between;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Effects of the rules in a cluster of thousands of hosts with failures and repairs: of adapter ports, links and
 * listeners; with hosts in other network namespaces, and peers without RDMA. {@link SimulatedCluster} asserts, of every
 * attempt and connect, that there is no black hole and no flapping, that the nearest one is returned to, and that cost
 * and memory are bounded.
 */
@AddLifecycleHook(HalfTheTries.class)
class AttemptSimulationTest {
    private static final List<Way> ALL = List.of(Way.values());
    private static final List<Way> RDMA = List.of(Way.SHARED_MEMORY, Way.DEVICE);
    /** Allowed ways of a process's connects. Connects with other providers have a memory of their own. */
    private static final List<List<List<Way>>> ALLOWED = List.of(List.of(ALL, RDMA),
            List.of(List.of(Way.DEVICE), List.of(Way.DEVICE, Way.TCP)),
            List.of(List.of(Way.SHARED_MEMORY), List.of(Way.SHARED_MEMORY, Way.TCP)));

    @Property(tries = 40)
    void candidatesOfAClusterAreChosenWell(@ForAll long seed, @ForAll @IntRange(min = 1, max = 4) int clients,
                                      @ForAll @IntRange(min = 1, max = 3000) int peers,
                                      @ForAll boolean unlimited, @ForAll boolean forgetful) throws Exception {
        Random random = new Random(seed);
        long attempt = between(random, 200 * MILLI, 2 * SECOND);
        Settings settings = new Settings(unlimited ? 0 : between(random, SECOND, 60 * SECOND), attempt,
                between(random, 2 * attempt, 100 * SECOND), forgetful ? 1 + random.nextInt(peers) : peers);
        SimulatedCluster cluster = new SimulatedCluster(peers, clients, settings);
        for (Peer peer : cluster.peers) {
            place(peer, random);
        }
        // Most connects are to a few of the peers, in the manner of a cluster, and some of these are made at once.
        int connects = 20_000;
        long apart = between(random, MILLI, SECOND);
        connects(cluster, random, connects, apart);
        failures(cluster, random, connects * apart);
        cluster.run();
        assertThat(cluster.succeeded + cluster.failed).isGreaterThanOrEqualTo(connects);
        happens("succeeded", cluster.succeeded);
        happens("failed", cluster.failed);
        happens("detours", cluster.detours);
        happens("retries", cluster.retries);
    }

    /** Has the property fail if this is 0 in all of its tries. */
    private static void happens(String what, long count) {
        Statistics.label(what).collect(count > 0);
        Statistics.label(what).coverage(each -> each.check(true).count(tries -> tries > 0));
    }

    /** Where a peer is, and what it has. */
    private static void place(Peer peer, Random random) {
        switch (random.nextInt(5)) {
        case 0:
            // On this host.
            break;
        case 1:
            // In another network namespace of this host, or without a listener by shared memory.
            peer.setUp(Way.SHARED_MEMORY, random.nextBoolean() ? State.NO_ROUTE : State.REFUSES);
            break;
        case 2:
            // On another host without RDMA: nothing answers, or its kernel says that nobody listens.
            peer.setUp(Way.SHARED_MEMORY, State.NO_ROUTE);
            peer.setUp(Way.DEVICE, random.nextBoolean() ? State.SILENT : State.REFUSES);
            break;
        default:
            peer.setUp(Way.SHARED_MEMORY, State.NO_ROUTE);
        }
    }

    private static void connects(SimulatedCluster cluster, Random random, int left, long apart) {
        if (left == 0) {
            return;
        }
        cluster.after((long) (-Math.log(1 - random.nextDouble()) * apart), () -> {
            int count = cluster.peers.size();
            Peer peer = cluster.peers.get((int) (count * Math.pow(random.nextDouble(), 4)));
            int number = random.nextInt(cluster.clients.size());
            List<List<Way>> allowed = ALLOWED.get(number % ALLOWED.size());
            for (int together = random.nextInt(8) == 0 ? 1 + random.nextInt(10) : 1; together > 0; together--) {
                cluster.clients.get(number).connect(peer, allowed.get(random.nextInt(allowed.size())));
            }
            connects(cluster, random, left - 1, apart);
        });
    }

    private static void failures(SimulatedCluster cluster, Random random, long left) {
        long pause = between(random, MILLI, Math.max(2 * MILLI, left / 100));
        if (pause > left) {
            return;
        }
        cluster.after(pause, () -> {
            Way way = Way.values()[random.nextInt(3)];
            State state = State.values()[random.nextInt(4)];
            int count = cluster.peers.size();
            int first = (int) (count * Math.pow(random.nextDouble(), 4));
            // One peer; or a link of this host, and so all that are behind it.
            int last = random.nextInt(20) == 0 ? Math.min(count, first + count / 2) : first + 1;
            cluster.peers.subList(first, last).forEach(peer -> peer.set(way, state));
            if (state != State.ANSWERS) {
                cluster.after(between(random, 100 * MILLI, 300 * SECOND),
                        () -> cluster.peers.subList(first, last).forEach(peer -> peer.repair(way)));
            }
            failures(cluster, random, left - pause);
        });
    }

    @Test
    void manyConnectsToAPeerWhoseDeviceIsSilentWaitForItOnce() throws Exception {
        SimulatedCluster cluster = new SimulatedCluster(1, 1, new Settings(30 * SECOND, SECOND, 30 * SECOND, 1));
        Peer peer = cluster.peers.get(0);
        peer.set(Way.SHARED_MEMORY, State.NO_ROUTE);
        peer.set(Way.DEVICE, State.SILENT);
        cluster.clients.get(0).connect(peer, ALL);
        cluster.run();
        long begin = cluster.now();
        for (int i = 0; i < 1000; i++) {
            cluster.clients.get(0).connect(peer, ALL);
        }
        cluster.run();
        assertThat(cluster.now() - begin).isEqualTo(Way.TCP.latency);
        assertThat(cluster.detours).isEqualTo(1001);
    }
}
