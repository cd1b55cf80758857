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
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.handler.codec.redis.ArrayRedisMessage;
import io.netty.handler.codec.redis.FullBulkStringRedisMessage;
import io.netty.handler.codec.redis.RedisArrayAggregator;
import io.netty.handler.codec.redis.RedisBulkStringAggregator;
import io.netty.handler.codec.redis.RedisDecoder;
import io.netty.handler.codec.redis.RedisEncoder;
import io.netty.handler.codec.redis.RedisMessage;
import io.netty.handler.codec.redis.SimpleStringRedisMessage;
import io.netty.util.CharsetUtil;
import io.netty.util.ReferenceCountUtil;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/** Commands and answers by Netty's codec for RESP: a server that knows three commands, and clients. */
final class Resp {
    private Resp() {
    }

    private static void addCodec(Channel channel) {
        channel.pipeline().addLast(new RedisDecoder(), new RedisBulkStringAggregator(),
                new RedisArrayAggregator(1024, 8), new RedisEncoder());
    }

    private static FullBulkStringRedisMessage bulk(ByteBuf bytes) {
        return new FullBulkStringRedisMessage(bytes);
    }

    private static ByteBuf utf8(String text) {
        return Unpooled.copiedBuffer(text, CharsetUtil.UTF_8);
    }

    /** A server that stores the values of one connection. */
    static Channel server(EventLoopGroup group, Consumer<ServerBootstrap> options) throws InterruptedException {
        ServerBootstrap bootstrap = new ServerBootstrap().group(group).channel(RdmaValkeyServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        addCodec(channel);
                        channel.pipeline().addLast(new Commands());
                    }
                });
        options.accept(bootstrap);
        return TestTimeouts.sync(bootstrap.bind(TestAddress.anyPort())).channel();
    }

    private static final class Commands extends ChannelInboundHandlerAdapter {
        private final Map<String, byte[]> values = new HashMap<>();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            try {
                ctx.write(answer(((ArrayRedisMessage) msg).children()));
            } finally {
                ReferenceCountUtil.release(msg);
            }
        }

        private RedisMessage answer(List<RedisMessage> command) {
            switch (text(command.get(0))) {
            case "PING":
                return new SimpleStringRedisMessage("PONG");
            case "SET":
                values.put(text(command.get(1)), bytes(command.get(2)));
                return new SimpleStringRedisMessage("OK");
            case "GET":
                byte[] value = values.get(text(command.get(1)));
                return value == null ? FullBulkStringRedisMessage.NULL_INSTANCE : bulk(Unpooled.wrappedBuffer(value));
            default:
                throw new AssertionError(command);
            }
        }

        private static byte[] bytes(RedisMessage message) {
            ByteBuf content = ((FullBulkStringRedisMessage) message).content();
            byte[] bytes = new byte[content.readableBytes()];
            content.getBytes(content.readerIndex(), bytes);
            return bytes;
        }

        private static String text(RedisMessage message) {
            return new String(bytes(message), CharsetUtil.UTF_8);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }
    }

    /** A connected client. */
    static final class Client implements AutoCloseable {
        private final BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
        private final Channel channel;

        Client(EventLoopGroup group, InetSocketAddress server) throws InterruptedException {
            channel = TestTimeouts.sync(new Bootstrap().group(group).channel(RdmaValkeySocketChannel.class)
                    .option(ChannelOption.SO_RCVBUF, 1 << 16)
                    .handler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            addCodec(ch);
                            ch.pipeline().addLast(new Answers());
                        }
                    }).connect(server)).channel();
        }

        Channel channel() {
            return channel;
        }

        /** Writes a command, and flushes it. Any thread. */
        void send(byte[] value, String... words) {
            List<RedisMessage> parts = new ArrayList<>();
            for (String word : words) {
                parts.add(bulk(utf8(word)));
            }
            if (value != null) {
                parts.add(bulk(channel.alloc().buffer(Math.max(1, value.length)).writeBytes(value)));
            }
            channel.writeAndFlush(new ArrayRedisMessage(parts));
        }

        /** The next answer: a String, or the bytes of a value, or {@code null} as text. */
        Object answer() throws InterruptedException {
            return TestTimeouts.take(answers, "an answer");
        }

        @Override
        public void close() {
            assertThat(channel.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        }

        private final class Answers extends ChannelInboundHandlerAdapter {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                try {
                    if (msg == FullBulkStringRedisMessage.NULL_INSTANCE) {
                        answers.add("null");
                    } else if (msg instanceof FullBulkStringRedisMessage) {
                        answers.add(Commands.bytes((RedisMessage) msg));
                    } else {
                        answers.add(((SimpleStringRedisMessage) msg).content());
                    }
                } finally {
                    ReferenceCountUtil.release(msg);
                }
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                answers.add("inactive");
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                answers.add(cause);
            }
        }
    }
}
