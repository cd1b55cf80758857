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
package io.netty.channel.rdma.message;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.MessagePair.Recorder;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The options by which a channel of messages finds out that its peer has gone, or takes nothing.
 */
@Tag("quick")
class RdmaMessageLivenessTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    @Test
    void keepAliveTellsOfTheEndOfAConnectionByDescriptors() throws Exception {
        Recorder leftEvents = new Recorder();
        RdmaMessageChannel left = MessagePair.bound(loops.group(), leftEvents, config -> {
            config.setOption(ChannelOption.SO_KEEPALIVE, true);
            config.setOption(RdmaChannelOption.KEEP_ALIVE_IDLE_MILLIS, 20);
            // 4 milliseconds.
            config.setOption(RdmaChannelOption.ACK_TIMEOUT, 10);
            config.setOption(RdmaChannelOption.RETRY_COUNT, 1);
        });
        Recorder rightEvents = new Recorder();
        RdmaMessageChannel right = MessagePair.bound(loops.group(), rightEvents, config -> { });
        try {
            RdmaEndpoint leftEnd = TestTimeouts.sync(left.exportEndpoint()).getNow();
            TestTimeouts.sync(right.connect(leftEnd));
            TestTimeouts.sync(left.connect(TestTimeouts.sync(right.exportEndpoint()).getNow()));
            assertThat(leftEvents.next()).isEqualTo("active");
            assertThat(rightEvents.next()).isEqualTo("active");
            // Tests of a peer that lives have no effect.
            TestTimeouts.await(left.eventLoop().schedule(() -> { }, 200, TimeUnit.MILLISECONDS));
            MessagePair.write(right, Unpooled.copyLong(1));
            leftEvents.message().release();
            assertThat(left.isActive()).isTrue();
            TestTimeouts.sync(right.close());
            // Nobody writes.
            assertThat(leftEvents.next()).isEqualTo("inactive");
        } finally {
            TestTimeouts.sync(left.close());
            TestTimeouts.sync(right.close());
        }
    }

    /** The queue pair of the peer is not connected, and drops what comes. The device would wait for more than 7 s. */
    @Test
    void keepAliveEndsWithoutAnAnswer() throws Exception {
        Recorder events = new Recorder();
        RdmaMessageChannel left = MessagePair.bound(loops.group(), events, config -> {
            config.setOption(ChannelOption.SO_KEEPALIVE, true);
            config.setOption(RdmaChannelOption.KEEP_ALIVE_IDLE_MILLIS, 20);
            config.setOption(RdmaChannelOption.KEEP_ALIVE_INTERVAL_MILLIS, 25);
            config.setOption(RdmaChannelOption.KEEP_ALIVE_COUNT, 4);
        });
        RdmaMessageChannel right = MessagePair.bound(loops.group(), new Recorder(), config -> { });
        try {
            TestTimeouts.sync(left.connect(TestTimeouts.sync(right.exportEndpoint()).getNow()));
            assertThat(events.next()).isEqualTo("active");
            assertThat(events.next()).asString().contains("timed out").contains("a keep-alive within 100 ms");
            assertThat(events.next()).isEqualTo("inactive");
        } finally {
            TestTimeouts.sync(left.close());
            TestTimeouts.sync(right.close());
        }
    }

    @Test
    void peerThatTakesNothingIsReportedAfterTheUserTimeout() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(), server -> server
                .childOption(ChannelOption.AUTO_READ, false).childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16),
                client -> { })) {
            // The option may be set while there is a connection.
            pair.client.config().setOption(RdmaChannelOption.USER_TIMEOUT_MILLIS, 300);
            for (int i = 0; i < 16; i++) {
                MessagePair.write(pair.client, Unpooled.copyLong(i));
            }
            ChannelFuture write = TestTimeouts.await(pair.client.writeAndFlush(Unpooled.copyLong(16)));
            Throwable root = write.cause();
            while (root.getCause() != null) {
                root = root.getCause();
            }
            assertThat(root).isInstanceOf(IOException.class).hasMessageContaining("timed out")
                    .hasMessageContaining("taken nothing for 300 ms");
            assertThat(pair.clientEvents.next()).asString().contains("timed out");
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        }
    }

    @Test
    void peerThatReadsInTimeIsNotReported() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(), server -> { },
                client -> client.option(RdmaChannelOption.USER_TIMEOUT_MILLIS, 10_000))) {
            // Unsignalled operations are asked for in good time, and nothing waits for them.
            ChannelFuture unsignalled = pair.client.writeAndFlush(new RdmaSend(Unpooled.copyLong(1)).unsignalled());
            pair.serverEvents.message().release();
            assertThat(unsignalled.isDone()).isFalse();
            pair.client.config().setOption(RdmaChannelOption.USER_TIMEOUT_MILLIS, 2_000);
            TestTimeouts.sync(unsignalled);
            MessagePair.write(pair.client, Unpooled.copyLong(2));
            pair.serverEvents.message().release();
            assertThat(pair.client.isActive()).isTrue();
        }
    }

    @Test
    void optionsHaveTheNamesOfEpollAsWell() {
        Channel channel = new RdmaMessageChannel();
        assertThat(channel.config().setOption(EpollChannelOption.TCP_KEEPIDLE, 7)).isTrue();
        assertThat(channel.config().getOption(RdmaChannelOption.KEEP_ALIVE_IDLE_MILLIS)).isEqualTo(7000);
        assertThat(channel.config().getOptions()).containsKeys(ChannelOption.SO_KEEPALIVE,
                RdmaChannelOption.KEEP_ALIVE_COUNT, RdmaChannelOption.USER_TIMEOUT_MILLIS);
        channel.unsafe().closeForcibly();
    }
}
