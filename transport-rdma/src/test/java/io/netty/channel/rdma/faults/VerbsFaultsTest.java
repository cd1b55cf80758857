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
package io.netty.channel.rdma.faults;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.channel.rdma.verbs.Faults;
import io.netty.channel.rdma.verbs.VerbsResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each verbs call that can fail for want of a resource does so, one after the other. A scenario may then fail, with an
 * exception that names the call. But another connection of the same event loop does not notice, nothing is left
 * afterwards, and the next try succeeds.
 */
@Tag("faults")
class VerbsFaultsTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    @AfterEach
    void noMoreFaults() {
        Faults.none();
    }

    @ParameterizedTest
    @EnumSource
    void besideAnotherConnection(Scenario scenario) throws Exception {
        try (Attempt beside = new Attempt()) {
            Channel bystander = Scenario.connect(loops.group(), beside, RdmaServerSocketChannel.class,
                    RdmaSocketChannel.class, false);
            Channel sharing = Scenario.connect(loops.group(), beside, RdmaServerMessageChannel.class,
                    RdmaMessageChannel.class, true);
            failEachCall(attempt -> scenario.run(loops.group(), attempt), () -> {
                Scenario.exchange(bystander, beside, Unpooled.wrappedBuffer(new byte[100]));
                Scenario.exchange(sharing, beside, Unpooled.wrappedBuffer(new byte[100]));
                assertThat(beside.hasFailed()).as("the connections beside it: " + beside).isFalse();
            }, 3);
        }
    }

    @Test
    void receivesThatAreRefusedForGoodEndThoseWhoShareThem() throws Exception {
        try (Attempt beside = new Attempt(); Attempt attempt = new Attempt()) {
            Channel bystander = Scenario.connect(loops.group(), beside, RdmaServerSocketChannel.class,
                    RdmaSocketChannel.class, false);
            Channel sharing = Scenario.connect(loops.group(), attempt, RdmaServerMessageChannel.class,
                    RdmaMessageChannel.class, true);
            Faults.call("post_srq_recv").failAlways();
            // Others are posted.
            Scenario.exchange(sharing, attempt, Unpooled.wrappedBuffer(new byte[100]));
            assertThat(attempt.hasFailed()).as("" + attempt).isFalse();
            TestTimeouts.sync(sharing.closeFuture());
            attempt.awaitSays("post_srq_recv");
            Scenario.exchange(bystander, beside, Unpooled.wrappedBuffer(new byte[100]));
            assertThat(beside.hasFailed()).as("" + beside).isFalse();
        }
    }

    @Test
    void receivesThatAreRefusedEndTheConnection() throws Exception {
        try (Attempt attempt = new Attempt()) {
            Channel client = Scenario.connect(loops.group(), attempt, RdmaServerMessageChannel.class,
                    RdmaMessageChannel.class, false);
            Faults.call("post_recv").failAlways();
            client.writeAndFlush(attempt.writes(Unpooled.wrappedBuffer(new byte[100])));
            TestTimeouts.sync(client.closeFuture());
            attempt.awaitSays("post_recv");
        }
    }

    /** The loops that sleep could not be woken up by them. */
    @Test
    void completionQueuesThatAreNeverArmedEndAllTheirConnectionsWithTheCause() throws Exception {
        try (Attempt first = new Attempt(); Attempt second = new Attempt()) {
            Channel stream = Scenario.connect(loops.group(), first, RdmaServerSocketChannel.class,
                    RdmaSocketChannel.class, false);
            Channel messages = Scenario.connect(loops.group(), second, RdmaServerMessageChannel.class,
                    RdmaMessageChannel.class, true);
            Faults.call("req_notify_cq").failAlways();
            Scenario.exchange(stream, first, Unpooled.wrappedBuffer(new byte[100]));
            Scenario.exchange(messages, second, Unpooled.wrappedBuffer(new byte[100]));
            TestTimeouts.sync(stream.closeFuture());
            TestTimeouts.sync(messages.closeFuture());
            first.awaitSays("ibv_req_notify_cq");
            second.awaitSays("ibv_req_notify_cq");
            Faults.none();
            try (Attempt afterwards = new Attempt()) {
                Scenario.STREAM.run(loops.group(), afterwards);
                assertThat(afterwards.hasFailed()).as("" + afterwards).isFalse();
            }
        }
    }

    /** The first use of an event loop. */
    @ParameterizedTest
    @EnumSource
    void onNewEventLoops(Scenario scenario) throws Exception {
        failEachCall(attempt -> {
            EventLoopGroup group = new RdmaEventLoopGroup(2);
            attempt.atEnd(() -> assertThat(group.shutdownGracefully(0, TestTimeouts.SECONDS, TimeUnit.SECONDS)
                    .awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue());
            scenario.run(group, attempt);
        }, () -> { }, 1);
    }

    @FunctionalInterface
    private interface Check {
        void run() throws Exception;
    }

    /** @param occurrences of one call that are made to fail: beyond it they are alike. */
    private static void failEachCall(Attempt.Try tried, Check beside, int occurrences) throws Exception {
        beside.run();
        Faults.none();
        assertThat(Attempt.of(tried).hasFailed()).isFalse(); // what is made once
        Map<VerbsResource, Integer> before = Attempt.live();
        Faults.none();
        assertThat(Attempt.of(tried).hasFailed()).isFalse();
        Attempt.awaitNoMoreThan(before);
        Map<Faults.Call, Long> counts = new LinkedHashMap<>();
        Faults.calls().forEach(call -> counts.put(call, call.count()));
        assertThat(counts.values()).anyMatch(count -> count > 0);
        List<String> failures = new ArrayList<>();
        int fires = 0;
        for (Map.Entry<Faults.Call, Long> entry : counts.entrySet()) {
            Faults.Call call = entry.getKey();
            for (long n = 1; n <= Math.min(entry.getValue(), occurrences); n++) {
                for (int error = 0; error < call.errors(); error++) {
                    String what = call + " " + n + ", errno " + call.error(error);
                    System.out.println(what);
                    call.fail(n, error);
                    try {
                        Attempt attempt = Attempt.of(tried);
                        boolean fired = Faults.fired();
                        fires += fired ? 1 : 0;
                        Faults.none();
                        System.out.println("    " + (fired ? "" : "not reached ") + attempt);
                        assertThat(attempt.hasFailed() && !fired).as("failed by itself: " + attempt).isFalse();
                        // verbs.h hides the underscore of _ibv_query_gid_ex.
                        assertThat(!attempt.hasFailed() || attempt.says(call.name().replaceFirst("^_", "")))
                                .as("says which call failed: " + attempt).isTrue();
                        beside.run();
                        Attempt again = Attempt.of(tried);
                        assertThat(again.hasFailed()).as("the next try: " + again).isFalse();
                        Attempt.awaitNoMoreThan(before);
                    } catch (AssertionError | Exception e) {
                        System.out.println("    FAILED " + e);
                        failures.add(what + ": " + e);
                    } finally {
                        Faults.none();
                    }
                }
            }
        }
        assertThat(failures).isEmpty();
        assertThat(fires).as("calls that have failed").isPositive();
    }
}
