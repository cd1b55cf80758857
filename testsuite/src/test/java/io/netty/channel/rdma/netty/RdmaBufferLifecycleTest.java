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
package io.netty.channel.rdma.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.AbstractClientSocketTest;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.SocketAddress;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * After {@code IoUringSocketSendSzSendmsgZcTest} of Netty's io_uring transport: memory that the device reads from is
 * kept while bytes are in flight, whoever closes then, and is released in the end. Unlike there, the promise of a
 * write is not done before that.
 */
public class RdmaBufferLifecycleTest extends AbstractClientSocketTest {
    private static final int BUFFER_SIZE = 1024 * 1024;
    /** Receive memory of the peer: so much arrives without being read, and the rest waits. */
    private static final int RECEIVE_BUFFER_SIZE = 65536;

    enum Close {
        REMOTE,
        LOCAL,
        NONE
    }

    @Override
    protected List<BootstrapFactory<Bootstrap>> newFactories() {
        return RdmaSocketTestPermutation.INSTANCE.clientSocket();
    }

    @Override
    protected List<ByteBufAllocator> newAllocators() {
        return RdmaSocketTestPermutation.newAllocators();
    }

    @Override
    protected SocketAddress newSocketAddress() {
        return RdmaSocketTestPermutation.newSocketAddress();
    }

    @ParameterizedTest
    @CsvSource({ "NONE,1", "NONE,2", "REMOTE,1", "REMOTE,2", "LOCAL,1", "LOCAL,2" })
    @Timeout(60)
    void memoryInFlightIsReleasedInTheEndWhoeverCloses(Close close, int messages, TestInfo testInfo) throws Throwable {
        run(testInfo, cb -> testBufferLifecycle(cb, close, messages));
    }

    private void testBufferLifecycle(Bootstrap cb, Close close, int messages) throws Throwable {
        try (BlockingServerSocket serverSocket = new BlockingServerSocket()) {
            serverSocket.setReceiveBufferSize(RECEIVE_BUFFER_SIZE);
            serverSocket.bind(newSocketAddress());
            ChannelFuture connected = cb.handler(new ChannelInboundHandlerAdapter())
                    .connect(serverSocket.getLocalSocketAddress());
            try (BlockingSocket socket = serverSocket.accept()) {
                RdmaSocketChannel channel = (RdmaSocketChannel) connected.sync().channel();
                try {
                    testBufferLifecycle(channel, socket, close, messages);
                } finally {
                    channel.close().sync();
                }
            }
        }
    }

    private static void testBufferLifecycle(RdmaSocketChannel channel, BlockingSocket socket, Close close,
                                            int messages) throws Exception {
        ByteBuf buffer = channel.alloc().directBuffer(BUFFER_SIZE, BUFFER_SIZE).writeZero(BUFFER_SIZE);
        ChannelFuture first = null;
        if (messages == 2) {
            first = channel.write(buffer.readRetainedSlice(BUFFER_SIZE / 2));
        }
        ChannelFuture last = channel.writeAndFlush(buffer);
        // The peer does not read: its receive buffer fills up, and the rest stays here.
        TestTimeouts.awaitTrue(() -> sent(channel) >= RECEIVE_BUFFER_SIZE / 2);
        assertFalse(last.isDone());
        assertEquals(messages, buffer.refCnt());

        switch (close) {
        case REMOTE:
            socket.close();
            TestTimeouts.await(last);
            assertFalse(last.isSuccess());
            break;
        case LOCAL:
            // As upstream: what is left when the channel is closed need not wait for the peer for long. Not set before,
            // as the peer takes nothing all the time.
            channel.config().setOption(RdmaChannelOption.USER_TIMEOUT_MILLIS, 1000);
            TestTimeouts.await(channel.close());
            TestTimeouts.await(last);
            assertFalse(last.isSuccess());
            break;
        default:
            socket.skip(BUFFER_SIZE);
            TestTimeouts.await(last);
            assertTrue(last.isSuccess());
            assertTrue(first == null || first.isSuccess());
        }
        TestTimeouts.awaitTrue(() -> buffer.refCnt() == 0);
    }

    private static long sent(RdmaSocketChannel channel) {
        return channel.metrics().bytesSentInPlace() + channel.metrics().bytesSentCopied();
    }
}
