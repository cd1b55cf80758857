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
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AddressedEnvelope;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultAddressedEnvelope;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.socket.DatagramPacket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.SocketAddress;
import java.nio.channels.NotYetConnectedException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import static io.netty.channel.rdma.message.DatagramEnd.ascii;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Contents of datagrams, and their length.
 */
@Tag("oldest")
@Tag("platforms")
@Tag("quick")
class RdmaDatagramTransferTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    @Test
    void datagramArrivesWithItsSenderWhichCanBeAnswered() throws Exception {
        try (DatagramEnd left = new DatagramEnd(loops.group()); DatagramEnd right = new DatagramEnd(loops.group())) {
            left.send("ping", right.address());
            RdmaDatagram ping = right.datagram();
            try {
                assertThat(ping.content().toString(StandardCharsets.US_ASCII)).isEqualTo("ping");
                assertThat(ping.recipient()).isEqualTo(right.address());
                assertThat(ping.hasImmediate()).isFalse();
                assertThat(ping.sender()).isInstanceOf(RdmaDatagramAddress.class);
                assertThat(((RdmaDatagramAddress) ping.sender()).queuePairNumber())
                        .isEqualTo(left.channel.datagramAddress().queuePairNumber());
                right.send("pong", ping.sender());
            } finally {
                ping.release();
            }
            assertThat(left.text()).isEqualTo("pong");
        }
    }

    @Test
    void immediateDataArrive() throws Exception {
        try (DatagramEnd left = new DatagramEnd(loops.group()); DatagramEnd right = new DatagramEnd(loops.group())) {
            for (String text : new String[] { "", "with bytes" }) {
                TestTimeouts.sync(left.channel.writeAndFlush(
                        new RdmaDatagram(ascii(text), right.address(), 0xCAFEBABE)));
                RdmaDatagram datagram = right.datagram();
                assertThat(datagram.hasImmediate()).isTrue();
                assertThat(datagram.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE);
                assertThat(datagram.immediate()).isEqualTo(0xCAFEBABE);
                assertThat(datagram.content().toString(StandardCharsets.US_ASCII)).isEqualTo(text);
                datagram.release();
            }
        }
    }

    @Test
    void datagramsOfAllLengthsAndKindsOfMemoryArrive() throws Exception {
        try (DatagramEnd left = new DatagramEnd(loops.group()); DatagramEnd right = new DatagramEnd(loops.group())) {
            int most = left.channel.maxPayload();
            assertThat(most).isBetween(256, 4096);
            for (int length : new int[] { 0, 1, 64, 65, most - 1, most }) {
                byte[] bytes = new byte[length];
                for (int i = 0; i < length; i++) {
                    bytes[i] = (byte) (i * 31);
                }
                CompositeByteBuf composite = Unpooled.compositeBuffer();
                composite.addComponent(true, Unpooled.copiedBuffer(bytes, 0, length / 2));
                composite.addComponent(true, left.channel.alloc().buffer().writeBytes(bytes, length / 2,
                        length - length / 2));
                for (ByteBuf buf : new ByteBuf[] { Unpooled.copiedBuffer(bytes),
                        left.channel.alloc().buffer().writeBytes(bytes), composite }) {
                    TestTimeouts.sync(left.channel.writeAndFlush(new RdmaDatagram(buf, right.address())));
                    RdmaDatagram datagram = right.datagram();
                    assertThat(datagram.content()).isEqualTo(Unpooled.wrappedBuffer(bytes));
                    datagram.release();
                }
            }
        }
    }

    @Test
    void datagramBeyondTheMtuFailsAloneAndSaysWhatTheLimitIs() throws Exception {
        try (DatagramEnd left = new DatagramEnd(loops.group()); DatagramEnd right = new DatagramEnd(loops.group())) {
            int most = left.channel.maxPayload();
            ChannelFuture before = left.channel.write(new RdmaDatagram(ascii("before"), right.address()));
            ChannelFuture tooLong = left.channel.write(new RdmaDatagram(Unpooled.buffer(most + 1).writeZero(most + 1),
                    right.address()));
            ChannelFuture after = left.write("after", right.address());
            TestTimeouts.sync(before);
            TestTimeouts.sync(after);
            assertThat(TestTimeouts.await(tooLong).cause()).isInstanceOf(RdmaOperationException.class)
                    .hasMessageContaining("at most " + most + " bytes").hasMessageContaining("MTU")
                    .hasMessageContaining("RdmaMessageChannel");
            assertThat(((RdmaOperationException) tooLong.cause()).isPosted()).isFalse();
            assertThat(right.text()).isEqualTo("before");
            assertThat(right.text()).isEqualTo("after");
        }
    }

    @Test
    void manyDatagramsArriveInOrderWhereTheReceiverKeepsUp() throws Exception {
        int window = 32;
        try (DatagramEnd left = new DatagramEnd(loops.group(), TestAddress.anyPort(),
                b -> b.option(RdmaChannelOption.SEND_QUEUE_DEPTH, 16));
             DatagramEnd right = new DatagramEnd(loops.group())) {
            for (int round = 0; round < 20; round++) {
                List<ChannelFuture> writes = new ArrayList<>();
                for (int i = 0; i < window; i++) {
                    writes.add(left.channel.write(new RdmaDatagram(ascii(round + "." + i), right.address())));
                }
                left.channel.flush();
                for (int i = 0; i < window; i++) {
                    assertThat(right.text()).isEqualTo(round + "." + i);
                    TestTimeouts.sync(writes.get(i));
                }
            }
        }
    }

    @Test
    void whatIsNotReadIsLostBeyondTheDepthOfTheReceiveQueue() throws Exception {
        int depth = 16;
        try (DatagramEnd left = new DatagramEnd(loops.group());
             DatagramEnd right = new DatagramEnd(loops.group(), TestAddress.anyPort(), b -> b
                     .option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, depth).option(ChannelOption.AUTO_READ, false))) {
            for (int i = 0; i < 3 * depth; i++) {
                left.send("" + i, right.address());
            }
            assertThat(right.events.datagrams).isEmpty();
            right.channel.config().setAutoRead(true);
            for (int i = 0; i < depth; i++) {
                assertThat(right.text()).isEqualTo("" + i);
            }
            left.send("later", right.address());
            // A sent datagram need not arrive: the last ones may find receives again.
            int late = 0;
            for (String text = right.text(); !text.equals("later"); text = right.text()) {
                assertThat(Integer.parseInt(text)).isGreaterThanOrEqualTo(depth);
                late++;
            }
            assertThat(late).as("not all arrived").isLessThan(2 * depth);
        }
    }

    @Test
    void handlersOfAddressedEnvelopesAndPacketsWorkAsWithOtherDatagramChannels() throws Exception {
        DatagramEnd.Recorder unused = new DatagramEnd.Recorder();
        Channel echo = TestTimeouts.sync(DatagramEnd.bootstrap(loops.group(), unused)
                .handler(new SimpleChannelInboundHandler<AddressedEnvelope<ByteBuf, SocketAddress>>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext ctx,
                                                AddressedEnvelope<ByteBuf, SocketAddress> in) {
                        ctx.writeAndFlush(new DefaultAddressedEnvelope<>(in.content().retain(),
                                in.sender()));
                    }
                }).bind(TestAddress.anyPort())).channel();
        try (DatagramEnd client = new DatagramEnd(loops.group())) {
            TestTimeouts.sync(client.channel.writeAndFlush(new DatagramPacket(ascii("query"),
                    ((RdmaDatagramChannel) echo).localAddress())));
            assertThat(client.text()).isEqualTo("query");
        } finally {
            TestTimeouts.await(echo.close());
        }
    }

    @Test
    void whatCanNotBeSentIsRefusedAndReleased() throws Exception {
        try (DatagramEnd end = new DatagramEnd(loops.group())) {
            ByteBuf buf = ascii("to nobody");
            assertThat(end.failure(buf)).isInstanceOf(NotYetConnectedException.class);
            assertThat(buf.refCnt()).isZero();
            assertThat(end.failure("text")).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("AddressedEnvelope");
            ByteBuf released = ascii("released");
            released.release();
            assertThat(end.failure(new DatagramPacket(released, end.address()))).isNotNull();
            end.send("still there", end.address());
            assertThat(end.text()).isEqualTo("still there");
        }
    }

    @Test
    void optionsThatAreOfConnectionsAloneAreUnknown() throws Exception {
        try (DatagramEnd end = new DatagramEnd(loops.group())) {
            ChannelConfig config = end.channel.config();
            assertThat(config.setOption(RdmaChannelOption.RETRY_COUNT, 1)).isFalse();
            assertThat(config.getOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH)).isEqualTo(128);
            assertThat(config.getOptions()).containsKey(RdmaChannelOption.ADDRESS_TTL_MILLIS);
            assertThatThrownBy(() -> config.setOption(RdmaChannelOption.ADDRESS_TTL_MILLIS, 0))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("1 to 86400000");
            RdmaCapabilities capabilities = end.channel.capabilities();
            assertThat(capabilities.supportsDatagrams()).isTrue();
            assertThat(capabilities.maxDatagramLength()).isEqualTo(end.channel.maxPayload());
        }
    }
}
