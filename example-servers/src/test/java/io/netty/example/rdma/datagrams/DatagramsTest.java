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
package io.netty.example.rdma.datagrams;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaCapabilities;
import io.netty.channel.rdma.message.RdmaDatagram;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.channel.rdma.verbs.Device;
import io.netty.example.rdma.datagrams.DatagramClient.Pinger;
import io.netty.example.rdma.datagrams.DatagramServer.Ponger;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import io.netty.example.rdma.verbs.Result;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@Timeout(180)
class DatagramsTest {
    private static final int COUNT = 500;
    private static final int SIZE = 100;
    private static final int RATE = 2000;
    private static final int LEAVE_AFTER = 50;

    private EventLoopGroup loops;

    @BeforeEach
    void start() throws Exception {
        RdmaCapabilities capabilities = RdmaCapabilities.of(Device.names().get(0));
        assumeTrue(capabilities.supportsDatagrams(), "the device has no datagrams");
        loops = Transport.RDMA.newGroup(1, Waiting.DEFAULT);
    }

    @AfterEach
    void stop() throws Exception {
        if (loops != null) {
            TestTimeouts.shutdown(loops);
        }
    }

    @Test
    void everyDatagramComesBack() throws Exception {
        Ponger ponger = new Ponger();
        InetSocketAddress server = bind(ponger).localAddress();
        Pinger pinger = new Pinger(server, COUNT, SIZE);
        bind(pinger).pipeline().fireUserEventTriggered(DatagramEnd.READY);
        Result sent = TestTimeouts.result(pinger.result());
        assertThat(sent.wrong()).isZero();
        assertThat(sent.count()).isEqualTo(COUNT);
        assertThat(sent.bytes()).isEqualTo(SIZE);
        assertThat(sent.what()).startsWith("datagrams there and back, ");
        Result answered = TestTimeouts.result(ponger.result());
        assertThat(answered.wrong()).isZero();
        assertThat(answered.count()).isEqualTo(COUNT);
    }

    @Test
    void datagramThatIsLostIsSentAgain() throws Exception {
        Filter loss = new Filter(Packet.Type.PING) {
            @Override
            RdmaDatagram changed(RdmaDatagram datagram, Packet packet) {
                datagram.release();
                return null;
            }
        };
        Ponger ponger = new Ponger();
        Pinger pinger = new Pinger(bind(loss, ponger).localAddress(), COUNT, SIZE);
        bind(pinger).pipeline().fireUserEventTriggered(DatagramEnd.READY);
        Result sent = TestTimeouts.result(pinger.result());
        assertThat(sent.what()).matches("datagrams there and back, [1-9]\\d* sent again");
        assertThat(sent.wrong()).isZero();
        assertThat(TestTimeouts.result(ponger.result()).count()).isEqualTo(COUNT);
    }

    @Test
    void answerWithOtherDataIsWrong() throws Exception {
        Filter other = new Filter(Packet.Type.PONG) {
            @Override
            RdmaDatagram changed(RdmaDatagram datagram, Packet packet) {
                ByteBuf data = packet.data().copy();
                data.setByte(0, ~data.getByte(0));
                ByteBuf bytes = Unpooled.directBuffer();
                new Packet(packet.type(), packet.run(), packet.number(), data).write(bytes);
                data.release();
                datagram.release();
                return datagram.replace(bytes);
            }
        };
        Pinger pinger = new Pinger(bind(new Ponger()).localAddress(), COUNT, SIZE);
        bind(other, pinger).pipeline().fireUserEventTriggered(DatagramEnd.READY);
        assertThat(TestTimeouts.result(pinger.result()).wrong()).isOne();
    }

    /** Changes one datagram on its way to the program. */
    private abstract static class Filter extends ChannelInboundHandlerAdapter {
        private static final int NUMBER = 3;
        private final Packet.Type type;
        private boolean done;

        Filter(Packet.Type type) {
            this.type = type;
        }

        /** Takes the reference of the datagram. Returns another one, or {@code null}. */
        abstract RdmaDatagram changed(RdmaDatagram datagram, Packet packet);

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            RdmaDatagram datagram = (RdmaDatagram) message;
            Packet packet = Packet.read(datagram.content());
            if (!done && packet.type() == type && packet.number() == NUMBER) {
                done = true;
                datagram = changed(datagram, packet);
            }
            if (datagram != null) {
                ctx.fireChannelRead(datagram);
            }
        }
    }

    @Test
    void subscribersLeaveAndComeInTheMiddle() throws Exception {
        assumeTrue(RdmaCapabilities.of(Device.names().get(0)).supportsMulticast(), "the device has no multicast");
        InetAddress group = TestAddress.anyGroup();
        AtomicBoolean lateHasJoined = new AtomicBoolean();
        Publisher publisher = new Publisher(new InetSocketAddress(group, 0), 2, COUNT, SIZE, RATE) {
            @Override
            long due(long nanos) {
                return Math.min(super.due(nanos), lateHasJoined.get() ? COUNT : 2 * LEAVE_AFTER);
            }
        };
        Subscriber staying = new Subscriber(group, 0);
        Subscriber leaving = new Subscriber(group, LEAVE_AFTER);
        Rejoining rejoining = new Rejoining(group);
        join(group, staying);
        join(group, rejoining, leaving);
        join(group, publisher);
        Result left = TestTimeouts.result(leaving.result());
        assertThat(left.what()).isEqualTo("subscribed, and left in the middle");
        assertThat(left.count()).isEqualTo(LEAVE_AFTER);
        assertThat(left.wrong()).isZero();
        // The end may come before the answer.
        assertThat(TestTimeouts.await(rejoining.joined).cause() instanceof IllegalStateException)
                .as("is still a member").isFalse();
        Subscriber late = new Subscriber(group, 0);
        join(group, late);
        lateHasJoined.set(true);
        Result all = TestTimeouts.result(staying.result());
        assertThat(all.wrong()).isZero();
        assertThat(all.what()).startsWith("subscribed, ");
        Result rest = TestTimeouts.result(late.result());
        assertThat(rest.wrong()).isZero();
        assertThat(rest.count()).isBetween(1L, (long) COUNT - LEAVE_AFTER);
        Result published = TestTimeouts.result(publisher.result());
        assertThat(published.what()).isEqualTo("published to 3 subscribers");
        assertThat(published.count()).isEqualTo(COUNT);
    }

    /** Joins the group when the subscriber says that it has left, which a member can't. */
    private static final class Rejoining extends ChannelOutboundHandlerAdapter {
        private final InetAddress group;
        private volatile Future<?> joined;

        Rejoining(InetAddress group) {
            this.group = group;
        }

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            if (joined == null && Packet.read(((RdmaDatagram) message).content()).type() == Packet.Type.LEFT) {
                joined = ((RdmaDatagramChannel) ctx.channel()).joinGroup(group);
            }
            ctx.write(message, promise);
        }
    }

    private void join(InetAddress group, ChannelHandler... handlers) throws Exception {
        RdmaDatagramChannel channel = bind(handlers);
        channel.joinGroup(group).sync();
        channel.pipeline().fireUserEventTriggered(DatagramEnd.READY);
    }

    private RdmaDatagramChannel bind(ChannelHandler... handlers) throws Exception {
        return (RdmaDatagramChannel) new Bootstrap().group(loops).channel(RdmaDatagramChannel.class)
                .handler(new ChannelInitializer<RdmaDatagramChannel>() {
                    @Override
                    protected void initChannel(RdmaDatagramChannel channel) {
                        channel.pipeline().addLast(handlers);
                    }
                }).bind(RunningServer.HOST, 0).sync().channel();
    }
}
