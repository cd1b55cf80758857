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
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.rdma.TestTimeouts;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A client's connection to a server of Valkey: commands, and the bytes of their answers. Texts are of ISO 8859-1, so
 * that each byte has a character.
 */
final class ValkeyConnection implements AutoCloseable {
    /** In place of an answer, when the server has closed the connection. */
    static final String CLOSED = "closed";

    private final Channel channel;
    private final BlockingQueue<String> answers;
    private final AtomicReference<Throwable> failure;

    private ValkeyConnection(Channel channel, BlockingQueue<String> answers, AtomicReference<Throwable> failure) {
        this.channel = channel;
        this.answers = answers;
        this.failure = failure;
    }

    /** Connects, and waits for it. */
    static ValkeyConnection open(EventLoopGroup group, ValkeyTransport transport, ValkeyServer server)
            throws InterruptedException {
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        ChannelFuture connected = connect(group, transport, server, new SimpleChannelInboundHandler<byte[]>() {
            @Override
            protected void channelRead0(ChannelHandlerContext ctx, byte[] answer) {
                answers.add(text(answer));
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                answers.add(CLOSED);
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                failure.compareAndSet(null, cause);
                ctx.close();
            }
        });
        return new ValkeyConnection(TestTimeouts.sync(connected).channel(), answers, failure);
    }

    /** Connects with a handler of answers, which are arrays of bytes. */
    static ChannelFuture connect(EventLoopGroup group, ValkeyTransport transport, ValkeyServer server,
                                 SimpleChannelInboundHandler<byte[]> handler) {
        return new Bootstrap().group(group).channel(transport.channelType())
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(new RespDecoder(), handler);
                    }
                }).connect(transport.address(server));
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** A command as the protocol has it: an array of strings. */
    static ByteBuf encode(List<byte[]> words) {
        ByteBuf command = Unpooled.buffer();
        command.writeCharSequence("*" + words.size() + "\r\n", StandardCharsets.US_ASCII);
        for (byte[] word : words) {
            command.writeCharSequence("$" + word.length + "\r\n", StandardCharsets.US_ASCII);
            command.writeBytes(word).writeCharSequence("\r\n", StandardCharsets.US_ASCII);
        }
        return command;
    }

    /** As above. */
    static ByteBuf encode(String... words) {
        return encode(Arrays.stream(words).map(word -> word.getBytes(StandardCharsets.ISO_8859_1)).toList());
    }

    /** Sends bytes, which need not be a command. */
    void send(ByteBuf bytes) {
        channel.writeAndFlush(bytes);
    }

    /** The next answer, for which it waits, or {@link #CLOSED}, then and from then on. */
    String answer() throws InterruptedException {
        String answer = TestTimeouts.take(answers, "an answer of " + channel);
        if (answer.equals(CLOSED)) {
            answers.add(CLOSED);
        }
        return answer;
    }

    /** Sends a command and waits for its answer. */
    String exchange(String... words) throws InterruptedException {
        send(encode(words));
        return answer();
    }

    /** Error that the pipeline was told, or {@code null}. */
    Throwable failure() {
        return failure.get();
    }

    Channel channel() {
        return channel;
    }

    @Override
    public void close() {
        assertThat(channel.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
    }
}
