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
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.channel.rdma.verbs.VerbsResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each place in the transport where an event loop allocates something ({@link Allocations}) runs out of memory once.
 * Then the scenario goes on, or its channels end and one of them says why; each promise is done and each buffer
 * released, nothing is left, and another connection of the same event loop does not notice.
 */
@Tag("faults")
class AllocationFaultsTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    /** By the scenarios before. */
    private static final Set<Integer> TRIED = new HashSet<>();

    static {
        // Before the descriptors are counted, of which the agent of a process opens one (leakcheck).
        Allocations.install();
    }

    @BeforeAll
    static void know() throws Exception {
        assertThat(Allocations.errors()).isEmpty();
        Allocations.loops(loops.group());
    }

    @AfterEach
    void noMoreFaults() {
        Allocations.none();
    }

    @ParameterizedTest
    @EnumSource
    void besideAnotherConnection(Scenario scenario) throws Exception {
        List<String> failures = new ArrayList<>();
        int ranOut = 0;
        try (Attempt beside = new Attempt()) {
            Channel bystander = Scenario.connect(loops.group(), beside, RdmaServerSocketChannel.class,
                    RdmaSocketChannel.class, false);
            Channel sharing = Scenario.connect(loops.group(), beside, RdmaServerMessageChannel.class,
                    RdmaMessageChannel.class, true);
            Attempt.Try tried = attempt -> scenario.run(loops.group(), attempt);
            assertThat(Attempt.of(tried).hasFailed()).isFalse(); // what is made once
            Map<VerbsResource, Integer> before = Attempt.live();
            Allocations.note();
            assertThat(Attempt.of(tried).hasFailed()).isFalse();
            Attempt.awaitNoMoreThan(before);
            Set<Integer> sites = Allocations.noted();
            Allocations.none();
            assertThat(sites).isNotEmpty();
            sites.removeIf(site -> !TRIED.add(site));
            boolean isAllTried = sites.isEmpty();
            for (int site : sites) {
                String what = Allocations.name(site);
                System.out.println(what);
                try {
                    Allocations.fail(site);
                    Attempt attempt = Attempt.of(tried);
                    boolean fired = Allocations.fired();
                    ranOut += fired ? 1 : 0;
                    Allocations.none();
                    System.out.println("    " + (fired ? "" : "not reached ") + attempt);
                    assertThat(attempt.hasFailed() && !fired).as("failed by itself: " + attempt).isFalse();
                    assertThat(!attempt.hasFailed() || attempt.says(Allocations.MESSAGE)).as("says why: " + attempt)
                            .isTrue();
                    Scenario.exchange(bystander, beside, Unpooled.wrappedBuffer(new byte[100]));
                    Scenario.exchange(sharing, beside, Unpooled.wrappedBuffer(new byte[100]));
                    assertThat(beside.hasFailed()).as("the connections beside it: " + beside).isFalse();
                    Attempt.awaitNoMoreThan(before);
                } catch (AssertionError | Exception e) {
                    System.out.println("    FAILED " + e);
                    failures.add(what + ": " + e);
                    // Remaining objects do not count against later attempts.
                    before = Attempt.live();
                } finally {
                    Allocations.none();
                }
            }
            assertThat(isAllTried || ranOut > 0).as("a place has run out of memory").isTrue();
        }
        assertThat(failures).isEmpty();
    }
}
