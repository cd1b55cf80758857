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
import io.netty.channel.ChannelHandlerContext;
import io.netty.example.rdma.echo.EchoServerHandler;
import io.netty.handler.codec.ByteToMessageDecoder;

import java.util.List;

/**
 * Reads what a client wants, 4 bytes, and becomes that: {@value #ECHO} is an echo, and anything else a stream of writes
 * of that many bytes.
 */
public final class RequestHandler extends ByteToMessageDecoder {
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
