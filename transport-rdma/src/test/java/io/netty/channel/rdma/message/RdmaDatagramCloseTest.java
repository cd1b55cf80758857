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

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.PortSpace;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;

import static io.netty.channel.rdma.message.DatagramEnd.ascii;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The end of a channel, with something under way.
 */
@Tag("quick")
class RdmaDatagramCloseTest {
    @RegisterExtension
    final LoopGroupExtension loops = new LoopGroupExtension(1);

    @Test
    void closeSendsWhatWasFlushedBefore() throws Exception {
        try (DatagramEnd receiver = new DatagramEnd(loops.group())) {
            DatagramEnd sender = new DatagramEnd(loops.group());
            ChannelFuture write = sender.write("the last", receiver.address());
            sender.close();
            TestTimeouts.sync(write);
            assertThat(receiver.text()).isEqualTo("the last");
        }
    }

    @Test
    void closeInTheMiddleGivesBackWhatIsInFlight() throws Exception {
        try (DatagramEnd receiver = new DatagramEnd(loops.group())) {
            for (int linger : new int[] { -1, 0 }) {
                DatagramEnd sender = new DatagramEnd(loops.group(), TestAddress.anyPort(), b -> b
                        .option(ChannelOption.SO_LINGER, linger).option(RdmaChannelOption.MAX_INLINE, 0));
                List<ByteBuf> buffers = new ArrayList<>();
                List<ChannelFuture> writes = new ArrayList<>();
                // In one task, so that not all can have been sent before the close.
                TestTimeouts.sync(sender.channel.eventLoop().submit(() -> {
                    for (int i = 0; i < 500; i++) {
                        ByteBuf buf = i % 2 == 0 ? ascii("heap") : sender.channel.alloc().buffer().writeZero(100);
                        buffers.add(buf);
                        writes.add(sender.channel.write(new RdmaDatagram(buf, receiver.channel.datagramAddress())));
                    }
                    sender.channel.flush();
                    sender.channel.close();
                }));
                sender.close();
                int failed = 0;
                for (ChannelFuture write : writes) {
                    Throwable cause = TestTimeouts.await(write).cause();
                    if (cause != null) {
                        assertThat(cause).isInstanceOf(ClosedChannelException.class);
                        failed++;
                    }
                }
                if (linger == 0) {
                    assertThat(failed).isPositive();
                }
                assertThat(buffers).allMatch(buf -> buf.refCnt() == 0);
            }
        }
    }

    @Test
    void closeByTheListenerOfAWriteEndsTheOthers() throws Exception {
        try (DatagramEnd receiver = new DatagramEnd(loops.group()); EventChannel events = EventChannel.create();
             ConnectionId listener = listenerThatDoesNotAnswer(events)) {
            DatagramEnd sender = new DatagramEnd(loops.group(), TestAddress.anyPort(),
                    b -> b.option(ChannelOption.SO_LINGER, 0));
            ChannelFuture first = sender.channel.write(new RdmaDatagram(ascii("1"),
                    receiver.channel.datagramAddress()));
            first.addListener(ChannelFutureListener.CLOSE);
            ChannelFuture second = sender.write("2", listener.localAddress());
            TestTimeouts.sync(first);
            assertThat(TestTimeouts.await(second).cause()).isInstanceOf(ClosedChannelException.class);
            TestTimeouts.sync(sender.channel.closeFuture());
            assertThat(receiver.text()).isEqualTo("1");
        }
    }

    @Test
    void closeDoesNotWaitForCancelledWrites() throws Exception {
        DatagramEnd sender = new DatagramEnd(loops.group());
        CancelledWrites.closeAtOnce(sender.channel, () -> new RdmaDatagram(ascii("no"), sender.address()));
    }

    @Test
    void cancelledWritesGoWithThoseAround() throws Exception {
        try (DatagramEnd end = new DatagramEnd(loops.group())) {
            CancelledWrites.goWithThoseAround(end.channel, () -> new RdmaDatagram(ascii("yes"), end.address()));
            assertThat(end.text()).isEqualTo("yes");
            assertThat(end.text()).isEqualTo("yes");
        }
    }

    private static ConnectionId listenerThatDoesNotAnswer(EventChannel events) throws Exception {
        ConnectionId listener = ConnectionId.create(events, PortSpace.UDP);
        listener.bind(TestAddress.anyPort());
        listener.listen(16);
        return listener;
    }

    @Test
    void closeFailsWhatWaitsForAnAddress() throws Exception {
        try (EventChannel events = EventChannel.create(); ConnectionId listener = listenerThatDoesNotAnswer(events)) {
            DatagramEnd sender = new DatagramEnd(loops.group(), TestAddress.anyPort(),
                    b -> b.option(ChannelOption.SO_LINGER, 0));
            ByteBuf buf = ascii("waits");
            ChannelFuture write = sender.channel.writeAndFlush(new RdmaDatagram(buf, listener.localAddress()));
            sender.close();
            assertThat(TestTimeouts.await(write).cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(buf.refCnt()).isZero();
        }
    }

    /** A handler may write whenever there is room, and each write fails at once. */
    @Test
    void channelHasNoRoomWhileItsCloseWaits() throws Exception {
        try (EventChannel events = EventChannel.create(); ConnectionId listener = listenerThatDoesNotAnswer(events)) {
            DatagramEnd sender = new DatagramEnd(loops.group(), TestAddress.anyPort(),
                    b -> b.option(ChannelOption.SO_LINGER, (int) TestTimeouts.SECONDS));
            ChannelFuture write = sender.channel.writeAndFlush(new RdmaDatagram(ascii("waits"),
                    listener.localAddress()));
            TestTimeouts.sync(sender.channel.eventLoop().submit(() -> { }));
            assertThat(sender.channel.isWritable()).isTrue();
            ChannelFuture close = sender.channel.close();
            TestTimeouts.sync(sender.channel.eventLoop().submit(() -> {
                assertThat(close.isDone()).isFalse();
                assertThat(sender.channel.isActive()).isTrue();
                assertThat(sender.channel.isWritable()).isFalse();
                assertThat(sender.channel.bytesBeforeUnwritable()).isZero();
            }));
            loops.shutdown();
            TestTimeouts.await(write);
            TestTimeouts.sync(close);
        }
    }

    /** Otherwise there is no {@code channelInactive}. */
    @Test
    void aCloseThatWaitsComesBeforeADeregistration() throws Exception {
        try (EventChannel events = EventChannel.create(); ConnectionId listener = listenerThatDoesNotAnswer(events)) {
            DatagramEnd sender = new DatagramEnd(loops.group(), TestAddress.anyPort(),
                    b -> b.option(ChannelOption.SO_LINGER, 1));
            sender.channel.writeAndFlush(new RdmaDatagram(ascii("waits"), listener.localAddress()));
            ChannelFuture close = sender.channel.close();
            ChannelFuture deregistered = sender.channel.deregister();
            TestTimeouts.sync(close);
            assertThat(sender.events.next()).isEqualTo("inactive");
            TestTimeouts.sync(deregistered);
        }
    }

    @Test
    void endOfTheLoopClosesChannelsWithDatagramsUnread() throws Exception {
        DatagramEnd receiver = new DatagramEnd(loops.group(), TestAddress.anyPort(),
                b -> b.option(ChannelOption.AUTO_READ, false));
        DatagramEnd sender = new DatagramEnd(loops.group());
        for (int i = 0; i < 10; i++) {
            sender.send("unread", receiver.address());
        }
        sender.write("waits", receiver.address());
        loops.shutdown();
        assertThat(receiver.channel.isOpen()).isFalse();
        assertThat(sender.channel.isOpen()).isFalse();
    }

    @Test
    void channelStaysOnItsLoopOnceItIsBound() throws Exception {
        try (DatagramEnd end = new DatagramEnd(loops.group())) {
            TestTimeouts.sync(end.channel.deregister());
            TestTimeouts.sync(loops.group().register(end.channel));
            end.send("back", end.address());
            assertThat(end.text()).isEqualTo("back");
        }
    }
}
