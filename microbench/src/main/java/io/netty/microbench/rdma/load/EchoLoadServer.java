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
package io.netty.microbench.rdma.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.example.rdma.echo.EchoServerHandler;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ServerOptions;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * A server of echoes and streams; each connection asks for one of them.
 */
@Command(name = "echo-load-server", description = "Sends back what it receives, or sends a stream.")
public final class EchoLoadServer implements Callable<Integer> {
    /** Water mark of streams. With the default, 32 to 64 KiB, only one write of 64 KiB would be in flight. */
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(1 << 20, 4 << 20);

    @Mixin
    private ServerOptions options;

    private EchoLoadServer() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new EchoLoadServer(), args));
    }

    @Override
    public Integer call() throws Exception {
        SslContextBuilder tls = options.sslContext();
        SslContext ssl = tls == null ? null : tls.build();
        return options.serve("echo and stream", new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.config().setOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK);
                if (ssl != null) {
                    channel.pipeline().addLast(ssl.newHandler(channel.alloc()));
                }
                channel.pipeline().addLast(new RequestHandler());
            }
        });
    }

    /**
     * Reads a client's request, 4 bytes: {@value #ECHO} asks for an echo, any other number for a stream of writes of
     * that many bytes.
     */
    public static final class RequestHandler extends ByteToMessageDecoder {
        /** Request for an echo. */
        public static final int ECHO = 0;
        private static final int MAX_WRITE_BYTES = 64 << 20;

        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
            if (in.readableBytes() < Integer.BYTES) {
                return;
            }
            int request = in.readInt();
            if (request < 0 || request > MAX_WRITE_BYTES) {
                throw new IllegalArgumentException("write size out of 1.." + MAX_WRITE_BYTES + ": " + request);
            }
            ctx.pipeline().replace(this, null,
                    request == ECHO ? new EchoServerHandler() : new StreamSourceHandler(request));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    /** Writes buffers of one size for as long as the peer stays. */
    private static final class StreamSourceHandler extends ChannelInboundHandlerAdapter {
        private final int writeBytes;
        private ByteBuf payload;
        private boolean filling;

        /** Creates the handler for a connection that is established. */
        StreamSourceHandler(int writeBytes) {
            this.writeBytes = writeBytes;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            // All writes share one buffer of the channel's own allocator: the transport is measured, and not how fast a
            // CPU fills memory.
            payload = ctx.alloc().directBuffer(writeBytes, writeBytes).setZero(0, writeBytes).writerIndex(writeBytes);
            fill(ctx);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            fill(ctx);
        }

        private void fill(ChannelHandlerContext ctx) {
            Channel channel = ctx.channel();
            // A flush that makes the channel writable again calls this method.
            if (payload == null || filling) {
                return;
            }
            filling = true;
            while (channel.isWritable()) {
                ctx.write(payload.retainedDuplicate(), ctx.voidPromise());
            }
            ctx.flush();
            filling = false;
            if (channel.isWritable()) {
                ctx.executor().execute(() -> fill(ctx));
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (payload != null) {
                payload.release();
                payload = null;
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // The client ends by a close, which may reset the connection during a write.
            ctx.close();
        }
    }
}
