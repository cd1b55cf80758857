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
package io.netty.example.rdma.util;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.util.CharsetUtil;

import java.util.concurrent.CompletableFuture;

/**
 * A client that sends what no proper client would, and takes what comes as text.
 */
public final class RawClient {
    private final Channel channel;
    private final CompletableFuture<String> everything = new CompletableFuture<>();

    public RawClient(RunningServer server) throws InterruptedException {
        channel = server.connect(new ChannelInboundHandlerAdapter() {
            private final StringBuilder received = new StringBuilder();

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ByteBuf data = (ByteBuf) msg;
                received.append(data.toString(CharsetUtil.ISO_8859_1));
                data.release();
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                everything.complete(received.toString());
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                // A reset: what came before it counts.
                ctx.close();
            }
        });
    }

    public Channel channel() {
        return channel;
    }

    public void send(String text) {
        channel.writeAndFlush(text(text));
    }

    public static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, CharsetUtil.ISO_8859_1);
    }

    /** All that the server sent until it closed. */
    public String everything() throws Exception {
        return TestTimeouts.result(everything);
    }

    /** Answer of the server to this one request before it closes. */
    public static String exchange(RunningServer server, String request) throws Exception {
        RawClient client = new RawClient(server);
        client.send(request);
        return client.everything();
    }
}
