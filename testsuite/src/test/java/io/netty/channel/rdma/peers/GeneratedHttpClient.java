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

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.Generated;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.stream.ChunkedWriteHandler;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * One HTTP client's connection; answers are reduced to "STATUS LENGTH CRC", short ones have their text behind that.
 */
final class GeneratedHttpClient extends SimpleChannelInboundHandler<HttpObject> {
    static final String INACTIVE = "channelInactive";

    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> heads = new LinkedBlockingQueue<>();
    private volatile Channel channel;
    private String status;
    private Generated body;
    private StringBuilder text;

    ChannelHandler[] handlers() {
        return new ChannelHandler[] { new HttpClientCodec(), new ChunkedWriteHandler(), this };
    }

    /** Not only in channelActive, which may come after whoever connects knows that it is done. */
    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        channel = ctx.channel();
    }

    void get(String path) {
        DefaultFullHttpRequest request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path);
        request.headers().set(HttpHeaderNames.HOST, "rsocket");
        channel.writeAndFlush(request);
    }

    void post(long length, boolean chunked) {
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
        request.headers().set(HttpHeaderNames.HOST, "rsocket");
        if (chunked) {
            HttpUtil.setTransferEncodingChunked(request, true);
        } else {
            HttpUtil.setContentLength(request, length);
        }
        channel.write(request);
        channel.writeAndFlush(new HttpChunkedInput(new GeneratedInput(length)));
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, HttpObject msg) {
        if (msg instanceof HttpResponse) {
            heads.add("head");
            status = Integer.toString(((HttpResponse) msg).status().code());
            body = new Generated();
            text = new StringBuilder();
        }
        if (msg instanceof HttpContent) {
            body.add(((HttpContent) msg).content());
            if (body.length() < 64) {
                text.append(((HttpContent) msg).content().toString(StandardCharsets.US_ASCII));
            }
        }
        if (msg instanceof LastHttpContent) {
            answers.add(status + ' ' + body + (body.length() < 64 ? " " + text : ""));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        answers.add(cause.toString());
        ctx.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        answers.add(INACTIVE);
    }

    String nextAnswer() throws InterruptedException {
        return TestTimeouts.take(answers, "an answer");
    }

    /** Waits for the head of the next answer. */
    void awaitHead() throws InterruptedException {
        TestTimeouts.take(heads, "the head of an answer");
    }

    Channel channel() {
        return channel;
    }
}
