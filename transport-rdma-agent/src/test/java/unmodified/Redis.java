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
package unmodified;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.ProtocolVersion;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.ByteToMessageDecoder;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Lettuce, with a server that knows as much of Redis as that asks for. */
public final class Redis {
    private Redis() { }

    public static void main(String... args) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        Channel listener = Ends.bind(new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new Commands(), new Server());
                    }
                }));
        RedisClient client = RedisClient.create("redis://127.0.0.1:" + Ends.port(listener));
        client.setOptions(ClientOptions.builder().protocolVersion(ProtocolVersion.RESP2).build());
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            String large = "x".repeat(1024 * 1024);
            System.out.println(connection.sync().set("large", large));
            System.out.println(large.equals(connection.sync().get("large")));
            List<RedisFuture<String>> pipelined = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                pipelined.add(connection.async().set("key" + i, "value" + i));
                pipelined.add(connection.async().get("key" + i));
            }
            for (RedisFuture<String> each : pipelined) {
                System.out.println(each.get(Ends.SECONDS, TimeUnit.SECONDS));
            }
        }
        client.shutdown();
        Ends.end(group);
    }

    /** Arrays of strings, as the protocol of Redis has them. */
    private static final class Commands extends ByteToMessageDecoder {
        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
            int start = in.readerIndex();
            int count = number(in, '*');
            String[] command = new String[Math.max(count, 0)];
            for (int i = 0; i < count; i++) {
                int length = number(in, '$');
                if (length < 0 || in.readableBytes() < length + 2) {
                    count = -1;
                } else {
                    command[i] = in.readCharSequence(length, StandardCharsets.UTF_8).toString();
                    in.skipBytes(2);
                }
            }
            if (count < 0) {
                in.readerIndex(start);
            } else {
                out.add(command);
            }
        }

        /** The number of a line of this kind, or -1 if the line is not complete. */
        private static int number(ByteBuf in, char kind) {
            int end = ByteBufUtil.indexOf(in, in.readerIndex(), in.writerIndex(), (byte) '\n');
            if (end < 0) {
                return -1;
            }
            String line = in.readCharSequence(end + 1 - in.readerIndex(), StandardCharsets.UTF_8).toString().strip();
            if (line.charAt(0) != kind) {
                throw new IllegalArgumentException(line);
            }
            return Integer.parseInt(line.substring(1));
        }
    }

    private static final class Server extends ChannelInboundHandlerAdapter {
        private final Map<String, String> values = new HashMap<>();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            String[] command = (String[]) msg;
            String answer;
            switch (command[0].toUpperCase(Locale.ROOT)) {
            case "PING":
                answer = "+PONG\r\n";
                break;
            case "GET":
                String value = values.get(command[1]);
                answer = value == null ? "$-1\r\n" : "$" + value.length() + "\r\n" + value + "\r\n";
                break;
            case "SET":
                values.put(command[1], command[2]);
                answer = "+OK\r\n";
                break;
            default:
                answer = "+OK\r\n";
                break;
            }
            ByteBuf bytes = ctx.alloc().buffer(answer.length());
            bytes.writeCharSequence(answer, StandardCharsets.UTF_8);
            ctx.writeAndFlush(bytes);
        }
    }
}
