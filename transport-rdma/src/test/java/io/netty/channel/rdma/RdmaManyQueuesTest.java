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

import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.loop.LoopDevice;
import io.netty.channel.rdma.loop.LoopInternals;
import io.netty.channel.rdma.loop.LoopQueue;
import io.netty.channel.rdma.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.TestTimeouts.shutdown;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The completion queues of a loop with more connections than one of them has room for.
 */
class RdmaManyQueuesTest {
    /** Depth for each kind of work request: an adapter's first queue has room for one end of a connection. */
    private static final int DEPTH = 2048;

    private static ConnectedPair pair(EventLoopGroup group) throws Exception {
        return new ConnectedPair(group,
                server -> server.childOption(RdmaChannelOption.SEND_QUEUE_DEPTH, DEPTH)
                        .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, DEPTH),
                client -> client.option(RdmaChannelOption.SEND_QUEUE_DEPTH, DEPTH)
                        .option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, DEPTH));
    }

    private static void talk(ConnectedPair pair, int value) throws Exception {
        pair.client.writeAndFlush(Unpooled.copyInt(value));
        assertThat(pair.serverEvents.read(4)).containsExactly(0, 0, value >> 8, value);
        pair.server.writeAndFlush(Unpooled.copyInt(value));
        assertThat(pair.clientEvents.read(4)).containsExactly(0, 0, value >> 8, value);
    }

    /** Sets the room of all queues aside, so that there is another one for the next connection. */
    private static Void fill(LoopDevice device) throws VerbsException {
        for (int before = LoopInternals.queues(device); LoopInternals.queues(device) == before;) {
            device.reserve(2 * DEPTH, null);
        }
        return null;
    }

    /** Each is armed again after it fired, whichever did, and whoever has ended meanwhile. */
    @ParameterizedTest
    @EnumSource
    void eachIsHeardInAnyOrder(RdmaIoHandlerTest.Waiting waiting) throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1, waiting.config);
        List<ConnectedPair> pairs = new ArrayList<>();
        Random random = new Random(7);
        try {
            for (int i = 0; i < 8; i++) {
                ConnectedPair pair = pair(group);
                pairs.add(pair);
                if (i < 3) {
                    LoopDevice device = LoopInternals.device(pair.client.handler());
                    group.submit(() -> fill(device)).get(TestTimeouts.SECONDS, TimeUnit.SECONDS);
                }
            }
            ConnectedPair any = pairs.get(0);
            int queues = group.submit(() -> LoopInternals.queues(LoopInternals.device(any.client.handler())))
                    .get(TestTimeouts.SECONDS, TimeUnit.SECONDS);
            assertThat(queues).isGreaterThan(3);
            for (int i = 0; i < 400; i++) {
                if (i % 50 == 49 && pairs.size() > 2) {
                    pairs.remove(random.nextInt(pairs.size())).close();
                }
                talk(pairs.get(random.nextInt(pairs.size())), i);
            }
        } finally {
            pairs.forEach(ConnectedPair::close);
            shutdown(group);
        }
    }

    @Test
    void areFewAndClosedAfterAPeak() throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        try (ConnectedPair pair = pair(group)) {
            talk(pair, 1);
            LoopDevice device = LoopInternals.device(pair.client.handler());
            group.submit(() -> {
                int before = LoopInternals.queues(device);
                // 4096 completions in an adapter's first one, and each has as many as all before it, if the device can
                // do that: those of soft-RoCE have 32,767 at most.
                int most = 9 + 1000 * 512 / LoopInternals.maxCompletions(device);
                for (int peak = 0; peak < 3; peak++) {
                    List<LoopQueue> reserved = new ArrayList<>();
                    for (int i = 0; i < 1000; i++) {
                        reserved.add(device.reserve(512, null));
                    }
                    assertThat(LoopInternals.queues(device)).isBetween(before + 1, most);
                    for (LoopQueue queue : reserved) {
                        device.release(queue, 512, 0, null);
                    }
                    assertThat(LoopInternals.queues(device)).isBetween(before, before + 1);
                }
                return null;
            }).get(TestTimeouts.SECONDS, TimeUnit.SECONDS);
            talk(pair, 2);
        } finally {
            shutdown(group);
        }
    }

    @Test
    void aConnectionThatComesAndGoesDoesNotMakeOneEachTime() throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        try (ConnectedPair pair = pair(group)) {
            LoopDevice device = LoopInternals.device(pair.client.handler());
            group.submit(() -> {
                LoopQueue first = device.reserve(4096, null);
                device.release(first, 4096, 0, null);
                for (int i = 0; i < 5; i++) {
                    LoopQueue next = device.reserve(4096, null);
                    assertThat(next).isSameAs(first);
                    device.release(next, 4096, 0, null);
                }
                return null;
            }).get(TestTimeouts.SECONDS, TimeUnit.SECONDS);
        } finally {
            shutdown(group);
        }
    }
}
