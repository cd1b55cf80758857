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
package io.netty.channel.rdma.valkey;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** To a pipeline the channels are those of sockets. */
@Tag("quick")
class RdmaValkeySocketChannelTest {
    private static final int RECEIVE_BUFFER = 1 << 16;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private static ConnectedPair pair() throws Exception {
        return pair(true, true);
    }

    private static ConnectedPair pair(boolean clientReads, boolean serverReads) throws Exception {
        return new ConnectedPair(LOOPS.group(),
                b -> b.childOption(ChannelOption.SO_RCVBUF, RECEIVE_BUFFER)
                        .childOption(ChannelOption.AUTO_READ, serverReads),
                b -> b.option(ChannelOption.SO_RCVBUF, RECEIVE_BUFFER)
                        .option(ChannelOption.AUTO_READ, clientReads));
    }

    private static byte[] random(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static ChannelFuture write(Channel channel, byte[] bytes) {
        return channel.writeAndFlush(channel.alloc().buffer(bytes.length).writeBytes(bytes));
    }

    @Test
    void connectionHasItsAddressesAndIsActive() throws Exception {
        try (ConnectedPair pair = pair()) {
            assertThat(pair.client.remoteAddress()).isEqualTo(pair.listener.localAddress());
            assertThat(pair.client.localAddress()).isEqualTo(pair.server.remoteAddress());
            assertThat(pair.server.localAddress()).isEqualTo(pair.listener.localAddress());
            assertThat(pair.server.parent()).isSameAs(pair.listener);
            assertThat(pair.client.parent()).isNull();
            assertThat(pair.client.isActive() && pair.client.isWritable()).isTrue();
            assertThat(pair.client.config().getOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH)).isEqualTo(1024);
            assertThat(TestTimeouts.result(pair.client.info()).number()).isPositive();
        }
    }

    @Test
    void bytesThatNobodyReadsFillTheReceiveMemoryAndHoldTheWriterBack() throws Exception {
        byte[] bytes = random(1 << 20, 1);
        try (ConnectedPair pair = pair(true, false)) {
            List<ChannelFuture> writes = new ArrayList<>();
            for (int from = 0; from < bytes.length; from += 4096) {
                writes.add(pair.client.writeAndFlush(Unpooled.wrappedBuffer(bytes, from, 4096)));
            }
            int fitting = RECEIVE_BUFFER / 4096;
            TestTimeouts.sync(writes.get(fitting - 1));
            TestTimeouts.awaitTrue(() -> !pair.client.isWritable());
            assertThat(writes.get(fitting).isDone()).isFalse();
            assertThat(pair.serverEvents.hasBytes()).isFalse();

            pair.server.config().setAutoRead(true);
            assertThat(pair.serverEvents.read(bytes.length)).isEqualTo(bytes);
            TestTimeouts.sync(writes.get(writes.size() - 1));
            TestTimeouts.awaitTrue(pair.client::isWritable);
        }
    }

    @Test
    void bothDirectionsThatAreFullAtOnceGoOn() throws Exception {
        byte[] toServer = random(3 << 20, 1);
        byte[] toClient = random(3 << 20, 2);
        try (ConnectedPair pair = pair(false, false)) {
            ChannelFuture ofClient = write(pair.client, toServer);
            ChannelFuture ofServer = write(pair.server, toClient);
            TestTimeouts.awaitTrue(() -> !pair.client.isWritable() && !pair.server.isWritable());
            pair.client.config().setAutoRead(true);
            pair.server.config().setAutoRead(true);
            assertThat(pair.serverEvents.read(toServer.length)).isEqualTo(toServer);
            assertThat(pair.clientEvents.read(toClient.length)).isEqualTo(toClient);
            TestTimeouts.sync(ofClient);
            TestTimeouts.sync(ofServer);
        }
    }

    @Test
    void applicationThatKeepsAllItHasReadGetsMoreThanTheReceiveMemory() throws Exception {
        byte[] bytes = random(10 * RECEIVE_BUFFER, 3);
        try (ConnectedPair pair = pair()) {
            // The recorder keeps buffers until they are read.
            TestTimeouts.sync(write(pair.server, bytes));
            assertThat(pair.clientEvents.read(bytes.length)).isEqualTo(bytes);
        }
    }

    @Test
    void readsOnDemandGiveAllBytes() throws Exception {
        byte[] bytes = random(200_000, 4);
        try (ConnectedPair pair = pair(true, false)) {
            ChannelFuture written = write(pair.client, bytes);
            byte[] all = new byte[bytes.length];
            for (int done = 0; done < all.length;) {
                pair.server.read();
                TestTimeouts.awaitTrue(pair.serverEvents::hasBytes);
                while (pair.serverEvents.hasBytes()) {
                    all[done++] = pair.serverEvents.read(1)[0];
                }
            }
            assertThat(all).isEqualTo(bytes);
            TestTimeouts.sync(written);
        }
    }

    @Test
    void longBytesAreCopiedNeitherWhereTheyAreSentNorWhereTheyArrive() throws Exception {
        byte[] bytes = random(20_000, 13);
        try (ConnectedPair pair = pair()) {
            TestTimeouts.sync(write(pair.client, bytes));
            assertThat(pair.serverEvents.read(bytes.length)).isEqualTo(bytes);
            assertThat(pair.client.metrics().bytesSentInPlace()).isEqualTo(bytes.length);
            assertThat(pair.client.metrics().bytesSentCopied()).isZero();
            assertThat(pair.server.metrics().bytesReceivedInPlace()).isEqualTo(bytes.length);
            assertThat(pair.server.metrics().bytesReceivedCopied()).isZero();
        }
    }

    @Test
    void receiveMemoryIsAsLongAsTheOptionSaysAndTheReceivesFromTheStart() throws Exception {
        try (ConnectedPair pair = pair()) {
            int receives = pair.client.config().getOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH);
            assertThat(pair.client.metrics().receiveMemory())
                    .isEqualTo(RECEIVE_BUFFER + receives * ValkeyMessage.SIZE);
        }
    }

    @Test
    void fileRegionsAreSent(@TempDir Path folder) throws Exception {
        byte[] bytes = random(300_000, 5);
        Path file = Files.write(folder.resolve("file"), bytes);
        try (ConnectedPair pair = pair()) {
            TestTimeouts.sync(pair.client.writeAndFlush(new DefaultFileRegion(file.toFile(), 0, bytes.length)));
            assertThat(pair.serverEvents.read(bytes.length)).isEqualTo(bytes);
        }
    }

    // ---- the end

    @Test
    void closeDeliversWhatWasFlushedAndEndsThePeer() throws Exception {
        byte[] bytes = random(1 << 20, 6);
        try (ConnectedPair pair = pair()) {
            write(pair.client, bytes);
            TestTimeouts.sync(pair.client.close());
            assertThat(pair.serverEvents.read(bytes.length)).isEqualTo(bytes);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        }
    }

    @Test
    void closeOfTheServerDeliversWhatWasFlushedWithoutAPromise() throws Exception {
        try (ConnectedPair pair = pair()) {
            // Short enough to be a part of the request, which asks for no completion.
            for (byte i = 0; i < 50; i++) {
                pair.server.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {i}), pair.server.voidPromise());
            }
            TestTimeouts.sync(pair.server.close());
            byte[] read = pair.clientEvents.read(50);
            for (byte i = 0; i < 50; i++) {
                assertThat(read[i]).isEqualTo(i);
            }
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        }
    }

    @Test
    void bytesThatWereNotReadWhenThePeerClosedAreReadBeforeTheEnd() throws Exception {
        byte[] bytes = random(10_000, 7);
        try (ConnectedPair pair = pair(true, false)) {
            TestTimeouts.sync(write(pair.client, bytes));
            TestTimeouts.sync(pair.client.close());
            pair.server.config().setAutoRead(true);
            assertThat(pair.serverEvents.read(bytes.length)).isEqualTo(bytes);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
        }
    }

    @Test
    void closeOfThePeerFailsWhatHasNotArrived() throws Exception {
        try (ConnectedPair pair = pair(true, false)) {
            ChannelFuture write = write(pair.client, random(1 << 20, 8));
            TestTimeouts.awaitTrue(() -> !pair.client.isWritable());
            TestTimeouts.sync(pair.server.close());
            assertThat(TestTimeouts.await(write).cause()).isInstanceOf(IOException.class);
            TestTimeouts.await(pair.client.closeFuture());
            assertThat(TestTimeouts.await(write(pair.client, new byte[1])).cause())
                    .isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void resetIsTheSameEndForThePeer() throws Exception {
        try (ConnectedPair pair = pair()) {
            pair.client.config().setSoLinger(0);
            TestTimeouts.sync(pair.client.close());
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            TestTimeouts.await(pair.server.closeFuture());
        }
    }

    @Test
    void resetDoesNotWaitForAPeerThatDoesNotRead() throws Exception {
        try (ConnectedPair pair = pair(true, false)) {
            pair.client.config().setSoLinger(0);
            ChannelFuture write = write(pair.client, random(1 << 20, 9));
            TestTimeouts.awaitTrue(() -> !pair.client.isWritable());
            TestTimeouts.sync(pair.client.close());
            assertThat(TestTimeouts.await(write).cause()).isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void outputCanNotBeShutDownAlone() throws Exception {
        try (ConnectedPair pair = pair()) {
            assertThat(TestTimeouts.await(pair.client.shutdownOutput()).cause())
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("close()");
            assertThat(TestTimeouts.await(pair.client.shutdown()).cause())
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThat(pair.client.isOutputShutdown()).isFalse();
            TestTimeouts.sync(write(pair.client, new byte[] {1}));
            assertThat(pair.serverEvents.read(1)).containsExactly(1);
        }
    }

    @Test
    void inputThatIsShutDownDropsWhatArrives() throws Exception {
        try (ConnectedPair pair = pair()) {
            TestTimeouts.sync(pair.server.shutdownInput());
            assertThat(pair.server.isInputShutdown()).isTrue();
            TestTimeouts.sync(write(pair.client, random(10 * RECEIVE_BUFFER, 10)));
            assertThat(pair.serverEvents.hasBytes()).isFalse();
            TestTimeouts.sync(write(pair.server, new byte[] {2}));
            assertThat(pair.clientEvents.read(1)).containsExactly(2);
        }
    }

    @Test
    void endOfThePeerIsAnEventWhereHalfClosureIsAllowed() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(),
                b -> b.childOption(ChannelOption.ALLOW_HALF_CLOSURE, true), b -> { })) {
            TestTimeouts.sync(pair.client.close());
            assertThat(pair.serverEvents.next()).isSameAs(ChannelInputShutdownEvent.INSTANCE);
            assertThat(pair.serverEvents.next()).isSameAs(ChannelInputShutdownReadComplete.INSTANCE);
            assertThat(pair.server.isOpen()).isTrue();
            assertThat(TestTimeouts.await(write(pair.server, new byte[1])).cause()).isInstanceOf(IOException.class);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
        }
    }

    // ---- the rest

    @Test
    void connectionMovesToAnotherLoop() throws Exception {
        byte[] bytes = random(1 << 20, 11);
        try (ConnectedPair pair = pair()) {
            TestTimeouts.sync(pair.client.deregister());
            ChannelFuture written = write(pair.server, bytes);
            TestTimeouts.sync(LOOPS.group().register(pair.client));
            assertThat(pair.clientEvents.read(bytes.length)).isEqualTo(bytes);
            TestTimeouts.sync(written);
            TestTimeouts.sync(write(pair.client, bytes));
            assertThat(pair.serverEvents.read(bytes.length)).isEqualTo(bytes);
        }
    }

    @Test
    void connectionThatTheListenerHasNotReadKeepsWhatItsPeerSends() throws Exception {
        byte[] bytes = random(20_000, 12);
        ConnectedPair.Recorder events = new ConnectedPair.Recorder();
        Channel listener = TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group())
                .channel(RdmaValkeyServerSocketChannel.class).option(ChannelOption.AUTO_READ, false)
                .childHandler(events).bind(TestAddress.anyPort())).channel();
        Channel client = TestTimeouts.sync(new Bootstrap().group(LOOPS.group()).channel(RdmaValkeySocketChannel.class)
                .handler(new ConnectedPair.Recorder()).connect(listener.localAddress())).channel();
        ChannelFuture written = write(client, bytes);
        listener.read();
        assertThat(events.next()).isEqualTo("active");
        assertThat(events.read(bytes.length)).isEqualTo(bytes);
        TestTimeouts.sync(written);
        TestTimeouts.sync(client.close());
        assertThat(events.next()).isEqualTo("inactive");
        TestTimeouts.sync(listener.close());
    }

    @Test
    void serverOfTheOtherProtocolIsRefusedByItsReason() throws Exception {
        Channel listener = TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group())
                .channel(RdmaServerSocketChannel.class).childHandler(new ConnectedPair.Recorder())
                .bind(TestAddress.anyPort())).channel();
        assertThatThrownBy(() -> TestTimeouts.sync(new Bootstrap().group(LOOPS.group())
                .channel(RdmaValkeySocketChannel.class).handler(new ConnectedPair.Recorder())
                .connect(listener.localAddress()))).hasMessageContaining("not an rsockets peer");
        TestTimeouts.sync(listener.close());
    }

    @Test
    void clientOfTheOtherProtocolSeesThatTheServerIsOne() throws Exception {
        Channel listener = TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group())
                .channel(RdmaValkeyServerSocketChannel.class).childHandler(new ConnectedPair.Recorder())
                .bind(TestAddress.anyPort())).channel();
        assertThatThrownBy(() -> TestTimeouts.sync(new Bootstrap().group(LOOPS.group())
                .channel(RdmaSocketChannel.class).handler(new ConnectedPair.Recorder())
                .connect(listener.localAddress()))).hasMessageContaining("rsockets");
        TestTimeouts.sync(listener.close());
    }

    @Test
    void nobodyListens() throws Exception {
        InetSocketAddress free;
        try (ConnectedPair pair = pair()) {
            free = pair.listener.localAddress();
        }
        assertThatThrownBy(() -> TestTimeouts.sync(new Bootstrap().group(LOOPS.group())
                .channel(RdmaValkeySocketChannel.class).handler(new ConnectedPair.Recorder()).connect(free)))
                .hasMessageContaining("Connection refused");
    }
}
