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

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.io.IOException;
import java.util.List;

import static io.netty.channel.rdma.message.DatagramEnd.ascii;
import static io.netty.channel.rdma.message.RdmaChannelState.IDLE;
import static io.netty.channel.rdma.message.RdmaChannelState.RUNNING;
import static io.netty.channel.rdma.message.RdmaChannelState.STOPPING;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * An exception while the event loop does something for one channel of messages or datagrams: that one fails with it,
 * and no other.
 */
@Tag("quick")
class RdmaMessageUnexpectedExceptionTest {
    @RegisterExtension
    final LoopGroupExtension loops = new LoopGroupExtension(1);

    private static final String MESSAGE = "injected";

    @Test
    void failsTheConnectionAlone() throws Exception {
        try (MessagePair other = new MessagePair(loops.group()); MessagePair pair = new MessagePair(loops.group(),
                server -> server.childOption(ChannelOption.RECVBUF_ALLOCATOR, new BrokenRecvAllocator()),
                client -> { })) {
            pair.client.writeAndFlush(ascii("read"));
            assertFailure(pair.serverEvents.next());
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            for (RdmaChannelState state : List.of(RUNNING, STOPPING, IDLE)) {
                assertThat(pair.serverEvents.state()).isEqualTo(state);
            }
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
            MessagePair.write(other.client, ascii("goes on"));
            assertThat(other.serverEvents.text()).isEqualTo("goes on");
        }
    }

    @Test
    void failsPendingOperationsWithIt() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(),
                server -> server.childOption(ChannelOption.RECVBUF_ALLOCATOR, new BrokenRecvAllocator()),
                client -> client.option(ChannelOption.AUTO_READ, false)
                        .option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16))) {
            ChannelFuture last = null;
            for (int i = 0; i < 64; i++) {
                last = pair.server.write(ascii("not received"));
            }
            pair.server.flush();
            pair.client.writeAndFlush(ascii("read"));
            Throwable cause = TestTimeouts.await(last).cause();
            assertFailure(cause instanceof RdmaOperationException ? cause.getCause() : cause);
            TestTimeouts.sync(pair.server.closeFuture());
        }
    }

    /** Shared receives are taken from all channels of the loop, and must come back. */
    @Test
    void sharedReceivesAreGivenBack() throws Exception {
        try (MessagePair other = sharing(ByteBufAllocatorKind.SOUND); MessagePair pair = sharing(
                ByteBufAllocatorKind.BROKEN)) {
            // Beyond as many as its receive queue would have, arrivals are copied.
            for (int i = 0; i <= 16; i++) {
                pair.client.write(ascii("not read"));
            }
            pair.client.flush();
            assertFailure(pair.serverEvents.next());
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            MessagePair.write(other.client, ascii("goes on"));
            other.server.read();
            assertThat(other.serverEvents.text()).isEqualTo("goes on");
        }
        TestTimeouts.awaitTrue(() -> RdmaMetrics.sharedReceives() == 0);
    }

    private enum ByteBufAllocatorKind { SOUND, BROKEN }

    private MessagePair sharing(ByteBufAllocatorKind kind) throws Exception {
        return new MessagePair(loops.group(), server -> {
            server.childOption(RdmaChannelOption.SHARED_RECEIVE_QUEUE, true).childOption(ChannelOption.AUTO_READ, false)
                    .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16);
            if (kind == ByteBufAllocatorKind.BROKEN) {
                server.childOption(ChannelOption.ALLOCATOR, new BrokenAllocator());
            }
        }, client -> { });
    }

    @Test
    void failsADatagramChannelAlone() throws Exception {
        try (DatagramEnd other = new DatagramEnd(loops.group());
             DatagramEnd broken = new DatagramEnd(loops.group(), TestAddress.anyPort(),
                     b -> b.option(ChannelOption.RECVBUF_ALLOCATOR, new BrokenRecvAllocator()))) {
            other.send("read", broken.address());
            assertFailure(broken.events.next());
            assertThat(broken.events.next()).isEqualTo("inactive");
            other.send("goes on", other.address());
            assertThat(other.text()).isEqualTo("goes on");
        }
    }

    private static void assertFailure(Object event) {
        assertThat(event).isInstanceOfSatisfying(IOException.class, e ->
                assertThat(e).hasMessageContaining(MESSAGE).hasCauseInstanceOf(IllegalStateException.class));
    }

    private static final class BrokenRecvAllocator extends FixedRecvByteBufAllocator {
        BrokenRecvAllocator() {
            super(1024);
        }

        @Override
        @SuppressWarnings("deprecation")
        public Handle newHandle() {
            throw new IllegalStateException(MESSAGE);
        }
    }

    private static final class BrokenAllocator extends AbstractByteBufAllocator {
        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            throw new IllegalStateException(MESSAGE);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            return Unpooled.directBuffer(initialCapacity, maxCapacity);
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }
}
