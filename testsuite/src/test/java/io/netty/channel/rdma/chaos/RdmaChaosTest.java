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
package io.netty.channel.rdma.chaos;

import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.TestRandom;
import io.netty.channel.rdma.TestScope;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.PeerProcess;
import io.netty.channel.rdma.verbs.VerbsResource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process with connections of all kinds, all of them busy in both directions, is stopped, resumed and killed at
 * random instants. This process, which has clients and servers of it, must be told of the end of each connection, and
 * keep nothing; another process, connected by the same event loops, must not notice anything. The seed decides what
 * is done; at which instant of the traffic it happens is left to the scheduler.
 */
@Tag("chaos")
class RdmaChaosTest {
    private static final int FIXED_SEEDS = TestTimeouts.MULTIPLIER != 1 ? 5 : TestScope.ALL ? 25 : 6;
    private static final int MAX_CONNECTIONS = 4;
    private static final int MAX_STOPS = 8;
    private static final int BYSTANDER_CONNECTIONS = 1;
    private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int USER_TIMEOUT_MILLIS = 500 * TestTimeouts.MULTIPLIER;
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private static ChaosNode companion;
    private static PeerProcess bystander;
    private static int rounds;
    private static int stops;

    /** Ends of a process. */
    private enum End {
        KILL, STOP_AND_KILL, EXIT,
        /** The peer is not told, but its time-outs tell it. */
        TIMEOUT,
        /** The peer closes all connections while the process is stopped; it has to find that out when it goes on. */
        CLOSE_WHILE_STOPPED
    }

    static LongStream seeds() {
        return TestRandom.seeds(FIXED_SEEDS);
    }

    @BeforeAll
    static void connectBystander() throws Exception {
        companion = new ChaosNode(LOOPS.group(), 0);
        bystander = peer(companion, 0, BYSTANDER_CONNECTIONS);
        companion.connect(bystander.answer(), BYSTANDER_CONNECTIONS);
        companion.awaitBusy(4 * BYSTANDER_CONNECTIONS);
    }

    @AfterAll
    static void disconnectBystander() throws Exception {
        companion.closeConnections();
        companion.awaitEnd();
        companion.close();
        bystander.send(ChaosPeer.END);
        bystander.expect(ChaosPeer.ENDED);
        bystander.close();
        System.out.println(rounds + " processes ended, " + stops + " times one was stopped and resumed");
    }

    private static PeerProcess peer(ChaosNode node, long seed, int connections) throws Exception {
        return new PeerProcess(ChaosPeer.class, Long.toString(seed), Integer.toString(connections), node.ports());
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void survivorsAreToldAndKeepNothing(long seed) throws Exception {
        Random random = new Random(new SplittableRandom(seed).nextLong());
        int connections = 1 + random.nextInt(MAX_CONNECTIONS);
        // Otherwise the connections are still being made when it begins.
        boolean established = random.nextInt(4) != 0;
        int pauses = random.nextInt(MAX_STOPS + 1);
        End end = established ? End.values()[random.nextInt(End.values().length)] : End.KILL;
        String plan = connections + " connections of each kind each way, established: " + established + ", stopped " +
                pauses + " times, end: " + end;
        System.out.println("seed " + seed + ": " + plan);
        int queuePairs = VerbsResource.QUEUE_PAIR.live();
        int ids = VerbsResource.CONNECTION_ID.live();
        try (ChaosNode survivor = new ChaosNode(LOOPS.group(), seed);
             PeerProcess victim = peer(survivor, seed, connections)) {
            survivor.connect(victim.answer(), connections);
            if (established) {
                survivor.awaitBusy(4 * connections);
            }
            for (int i = 0; i < pauses; i++) {
                pause(random);
                victim.stop();
                pause(random);
                victim.resume();
                stops++;
                if (established) {
                    awaitProgress(survivor);
                }
            }
            pause(random);
            end(end, survivor, victim);
            survivor.awaitEnd();
        } catch (Throwable e) {
            throw new AssertionError("seed " + seed + ": " + plan, e);
        }
        rounds++;
        assertThat(companion.isBusy(4 * BYSTANDER_CONNECTIONS)).as("nobody else has noticed").isTrue();
        awaitProgress(companion);
        companion.assertNoViolation();
        // A queue pair may outlive its channel for the end of the connection.
        TestTimeouts.awaitTrue(() -> VerbsResource.QUEUE_PAIR.live() == queuePairs
                && VerbsResource.CONNECTION_ID.live() == ids);
    }

    private static void end(End end, ChaosNode survivor, PeerProcess victim) throws Exception {
        switch (end) {
        case STOP_AND_KILL:
            victim.stop();
            victim.kill();
            break;
        case EXIT:
            victim.send(ChaosPeer.EXIT);
            victim.awaitExit(0);
            break;
        case TIMEOUT:
            survivor.setOption(RdmaChannelOption.USER_TIMEOUT_MILLIS, USER_TIMEOUT_MILLIS);
            victim.stop();
            survivor.awaitEndOfStreams();
            victim.kill();
            break;
        case CLOSE_WHILE_STOPPED:
            victim.stop();
            survivor.closeConnections();
            victim.resume();
            survivor.awaitEnd();
            victim.send(ChaosPeer.END);
            victim.expect(ChaosPeer.ENDED);
            victim.awaitExit(0);
            break;
        default:
            victim.kill();
        }
    }

    private static void awaitProgress(ChaosNode node) throws InterruptedException {
        long before = node.received();
        TestTimeouts.awaitTrue(() -> node.received() > before);
    }

    /** So that what follows comes at a random instant; nothing is waited for. */
    private static void pause(Random random) {
        LockSupport.parkNanos((long) (random.nextDouble() * MAX_PAUSE_NANOS));
    }
}
