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
package io.netty.example.rdma.http2;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.example.rdma.http.BodyCheck;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.stream.ChunkedInput;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;

import java.io.IOException;
import java.util.function.Supplier;

/**
 * One request on a stream of its own, and its answer, whose body is checked as it arrives.
 */
public final class Exchange {
    private final Http2Headers request;
    private final ChunkedInput<ByteBuf> requestBody;
    private final BodyCheck check;
    private final Supplier<Throwable> connectionFailure;
    private final Promise<Answer> answer;
    private volatile Channel stream;
    private volatile long received;

    /**
     * Answer to the request.
     *
     * @param status     for example 200
     * @param bodyLength length of the body, all bytes of which were right
     */
    public record Answer(int status, long bodyLength) {
    }

    /**
     * @param requestBody       {@code null} for none
     * @param connectionFailure the cause of the end of the connection, or {@code null} if it has not failed
     */
    Exchange(EventExecutor executor, Http2Headers request, ChunkedInput<ByteBuf> requestBody, BodyCheck check,
             Supplier<Throwable> connectionFailure) {
        this.request = request;
        this.requestBody = requestBody;
        this.check = check;
        this.connectionFailure = connectionFailure;
        if (requestBody != null && requestBody.length() >= 0) {
            request.setLong(HttpHeaderNames.CONTENT_LENGTH, requestBody.length());
        }
        answer = executor.newPromise();
    }

    ChannelHandler handler() {
        return new Handler();
    }

    void opened(Future<Http2StreamChannel> opened) {
        if (!opened.isSuccess()) {
            answer.tryFailure(opened.cause());
            return;
        }
        stream = opened.getNow();
        if (answer.isCancelled()) {
            stream.close();
        }
    }

    /**
     * Answer, when all of it has arrived. Fails if {@code check} refuses it, if the server resets the stream, or if the
     * connection ends. Notified on the connection's event loop.
     */
    public Future<Answer> answer() {
        return answer;
    }

    /** Number of bytes of the answer's body that have arrived. */
    public long received() {
        return received;
    }

    /** Gives up the request, and tells the server (RST_STREAM). */
    public void cancel() {
        answer.cancel(false);
        Channel opened = stream;
        if (opened != null) {
            opened.close();
        }
    }

    private final class Handler extends ChannelInboundHandlerAdapter {
        private int status;
        private boolean sent = requestBody == null;

        @Override
        public void channelActive(ChannelHandlerContext ctx) throws Exception {
            ctx.write(new DefaultHttp2HeadersFrame(request, requestBody == null)).addListener(written -> {
                if (!written.isSuccess()) {
                    answer.tryFailure(written.cause());
                    ctx.close();
                }
            });
            send(ctx);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) throws Exception {
            send(ctx);
        }

        private void send(ChannelHandlerContext ctx) throws Exception {
            while (!sent && ctx.channel().isActive() && ctx.channel().isWritable()) {
                // From the channel's own allocator: on RDMA this memory is registered, and is sent from where it is.
                ByteBuf chunk =
                        requestBody.isEndOfInput() ? Unpooled.EMPTY_BUFFER : requestBody.readChunk(ctx.alloc());
                sent = requestBody.isEndOfInput();
                ctx.write(new DefaultHttp2DataFrame(chunk, sent));
            }
            ctx.flush();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws IOException {
            try {
                if (message instanceof Http2HeadersFrame headers) {
                    // Trailers have no status.
                    if (headers.headers().status() != null) {
                        status = Integer.parseInt(headers.headers().status().toString());
                    }
                    end(headers.isEndStream());
                } else if (message instanceof Http2DataFrame data) {
                    int length = data.content().readableBytes();
                    check.data(data.content());
                    received += length;
                    end(data.isEndStream());
                }
            } finally {
                ReferenceCountUtil.release(message);
            }
        }

        private void end(boolean endOfStream) throws IOException {
            if (endOfStream) {
                check.end();
                answer.trySuccess(new Answer(status, received));
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof Http2ResetFrame reset) {
                answer.tryFailure(new IOException(
                        "the server reset the stream: " + Http2Error.valueOf(reset.errorCode())));
            } else if (event instanceof Http2GoAwayFrame) {
                answer.tryFailure(new IOException("the server is going away and has not seen the request"));
            }
            ReferenceCountUtil.release(event);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            answer.tryFailure(new IOException("the connection ended in the middle of the answer",
                    connectionFailure.get()));
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) throws Exception {
            if (requestBody != null) {
                requestBody.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            answer.tryFailure(cause);
            ctx.close();
        }
    }
}
