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
package io.netty.channel.rdma.peers;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.Generated;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.NetUtil;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The distribution's {@code rcopy}, which copies a file to its server over one rsocket; a handler is at the other end.
 * Its messages have a header of 16 bytes in the byte order of the host: version, command (an answer adds 0x80), 16-bit
 * length, 32-bit mode or status, 64-bit id. OPEN has the path behind it; WRITE has the 64-bit length of the file behind
 * it, and its bytes follow without waiting for an answer.
 */
@Tag("iwarp-all")
class RdmaRcopyTest {
    private static final String RCOPY = "/usr/bin/rcopy";
    private static final int OPEN = 1;
    private static final int CLOSE = 2;
    private static final int WRITE = 3;
    private static final int ANSWER = 0x80;
    private static final int HEADER = 16;
    private static final int LENGTH = 3_000_001;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);
    @TempDir
    static Path folder;

    @BeforeAll
    static void assumeInstalled() {
        RsocketProcess.assumeInstalled(RCOPY, "rdmacm-utils");
    }

    @Test
    void unmodifiedClientCopiesAFileToAHandler() throws Exception {
        BlockingQueue<Object> results = new LinkedBlockingQueue<>();
        Path source = folder.resolve("source");
        byte[] content = new byte[LENGTH];
        Generated.fill(content, 0);
        Files.write(source, content);
        ChannelFuture bound = new ServerBootstrap().group(LOOPS.group()).channel(RdmaServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(new Server(results));
                    }
                }).bind(withoutColons((InetSocketAddress) RdmaSocketTestPermutation.newSocketAddress()));
        Channel listener = TestTimeouts.sync(bound).channel();
        InetSocketAddress address = (InetSocketAddress) listener.localAddress();
        try (RsocketProcess client = RsocketProcess.start(List.of(RCOPY, source.toString(),
                RsocketProcess.host(address) + ":/a/file", "-p", Integer.toString(address.getPort())))) {
            assertThat(TestTimeouts.take(results, "a path")).isEqualTo("/a/file");
            assertThat(TestTimeouts.take(results, "a file")).isEqualTo(Generated.sum(LENGTH));
            client.assertExit(0);
            assertThat(client.log()).contains(LENGTH + " bytes in");
            assertThat(TestTimeouts.take(results, "the end")).isEqualTo(GeneratedStream.INACTIVE);
        } finally {
            TestTimeouts.await(listener.close());
        }
    }

    /** IPv4 only: as a client, rcopy takes all up to the first colon for the host. */
    private static InetSocketAddress withoutColons(InetSocketAddress any) {
        if (any.getAddress() instanceof Inet4Address) {
            return any;
        }
        assumeTrue(any.getAddress().isLoopbackAddress(), "rcopy can't be given the address " + any);
        return new InetSocketAddress(NetUtil.LOCALHOST4, 0);
    }

    @Test
    void unmodifiedServerIsGivenAFile() throws Exception {
        // Without an address to be told, it listens on all of IPv4.
        InetSocketAddress some = RsocketProcess.someAddress();
        InetSocketAddress address = new InetSocketAddress(withoutColons(some).getAddress(), some.getPort());
        Path target = folder.resolve("target");
        BlockingQueue<Integer> answers = new LinkedBlockingQueue<>();
        try (RsocketProcess server = RsocketProcess.start(List.of(RCOPY, "-p", Integer.toString(address.getPort())))) {
            Channel channel = server.connect(LOOPS.group(), address, () -> new Answers(answers));
            byte[] path = (target + "\0").getBytes(StandardCharsets.UTF_8);
            channel.writeAndFlush(header(channel, OPEN, HEADER + path.length, 0600).writeBytes(path));
            assertThat(TestTimeouts.take(answers, "OPEN")).as(server.log()).isEqualTo(OPEN | ANSWER);
            ByteBuf write = header(channel, WRITE, HEADER + Long.BYTES, 0);
            channel.write(ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? write.writeLong(LENGTH)
                    : write.writeLongLE(LENGTH));
            for (int position = 0; position < LENGTH; position += 100_000) {
                channel.write(Generated.bytes(channel.alloc(), position, Math.min(100_000, LENGTH - position)));
            }
            channel.flush();
            assertThat(TestTimeouts.take(answers, "WRITE")).as(server.log()).isEqualTo(WRITE | ANSWER);
            channel.writeAndFlush(header(channel, CLOSE, HEADER, 0));
            assertThat(TestTimeouts.take(answers, "CLOSE")).as(server.log()).isEqualTo(CLOSE | ANSWER);
            TestTimeouts.sync(channel.close());
        }
        byte[] expected = new byte[LENGTH];
        Generated.fill(expected, 0);
        assertThat(Files.readAllBytes(target)).isEqualTo(expected);
    }

    private static ByteBuf header(Channel channel, int command, int length, int data) {
        ByteBuf buf = channel.alloc().directBuffer();
        buf.writeByte(0).writeByte(command);
        if (ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN) {
            buf.writeShort(length).writeInt(data);
        } else {
            buf.writeShortLE(length).writeIntLE(data);
        }
        return buf.writeLong(0);
    }

    /** The commands that were answered; -1 for a failure. */
    private static final class Answers extends ByteToMessageDecoder {
        private final BlockingQueue<Integer> answers;

        Answers(BlockingQueue<Integer> answers) {
            this.answers = answers;
        }

        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
            if (in.readableBytes() >= HEADER) {
                int command = in.getUnsignedByte(in.readerIndex() + 1);
                int status = in.getInt(in.readerIndex() + 4);
                in.skipBytes(HEADER);
                answers.add(status == 0 ? command : -1);
            }
        }
    }

    /** Notes the path, the checksum of the bytes, and the end. */
    private static final class Server extends ByteToMessageDecoder {
        private final BlockingQueue<Object> results;
        private Generated file;
        private long left;

        Server(BlockingQueue<Object> results) {
            this.results = results;
        }

        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
            if (left > 0) {
                int length = (int) Math.min(left, in.readableBytes());
                file.add(in.readSlice(length));
                left -= length;
                if (left == 0) {
                    results.add(file.toString());
                    answer(ctx, WRITE);
                }
                return;
            }
            int start = in.readerIndex();
            if (in.readableBytes() < HEADER) {
                return;
            }
            boolean bigEndian = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;
            int length = bigEndian ? in.getUnsignedShort(start + 2) : in.getUnsignedShortLE(start + 2);
            if (in.readableBytes() < length) {
                return;
            }
            int command = in.getUnsignedByte(start + 1);
            ByteBuf rest = in.skipBytes(HEADER).readSlice(length - HEADER);
            switch (command) {
            case OPEN:
                results.add(rest.toString(StandardCharsets.UTF_8).replaceAll("\0.*", ""));
                answer(ctx, OPEN);
                break;
            case WRITE:
                left = bigEndian ? rest.readLong() : rest.readLongLE();
                file = new Generated();
                break;
            default:
                answer(ctx, command);
            }
        }

        private static void answer(ChannelHandlerContext ctx, int command) {
            ctx.writeAndFlush(header(ctx.channel(), command | ANSWER, HEADER, 0));
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) throws Exception {
            super.channelInactive(ctx);
            results.add(GeneratedStream.INACTIVE);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            results.add(cause);
        }
    }
}
