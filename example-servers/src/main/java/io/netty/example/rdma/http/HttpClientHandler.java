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
package io.netty.example.rdma.http;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Promise;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Gives each response to the request that it answers. They come in the order of the requests.
 */
final class HttpClientHandler extends SimpleChannelInboundHandler<HttpObject> {
    private final Queue<Exchange> exchanges = new ArrayDeque<>();
    private HttpResponse head;
    private Throwable closedBy;

    /**
     * A request that is under way.
     *
     * @param status     with which it has to be answered; anything else is an error
     * @param onContinue runs when the server has asked for the body, or {@code null} if it is sent anyway
     */
    record Exchange(HttpResponseStatus status, BodyCheck body, Runnable onContinue, Promise<HttpResponse> promise) {
    }

    /** To be called on the event loop, before the request is written. */
    void add(Exchange exchange) {
        if (closedBy != null) {
            exchange.promise.setFailure(closedBy);
        } else {
            exchanges.add(exchange);
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) throws IOException {
        if (message.decoderResult().isFailure()) {
            throw new IOException("not an HTTP response", message.decoderResult().cause());
        }
        Exchange exchange = exchanges.peek();
        if (exchange == null) {
            throw new IOException("a response without a request");
        }
        if (message instanceof HttpResponse response) {
            head = response;
        }
        if (head.status().equals(HttpResponseStatus.CONTINUE)) {
            if (message instanceof HttpResponse && exchange.onContinue != null) {
                exchange.onContinue.run();
            }
            return;
        }
        if (!head.status().equals(exchange.status)) {
            throw new IOException("the answer is " + head.status() + " instead of " + exchange.status);
        }
        if (message instanceof HttpContent content) {
            exchange.body.data(content.content());
            if (content instanceof LastHttpContent) {
                exchange.body.end();
                exchanges.remove();
                exchange.promise.setSuccess(head);
            }
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        fail(new IOException("the server closed before its answer was complete"));
        ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // The cause, from TLS or a codec, tells more than the exception of the decoder.
        fail(cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause);
        ctx.close();
    }

    private void fail(Throwable cause) {
        if (closedBy == null) {
            closedBy = cause;
        }
        for (Exchange exchange = exchanges.poll(); exchange != null; exchange = exchanges.poll()) {
            exchange.promise.tryFailure(closedBy);
        }
    }
}
