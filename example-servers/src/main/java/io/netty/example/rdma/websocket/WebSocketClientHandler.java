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
package io.netty.example.rdma.websocket;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler.ClientHandshakeStateEvent;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.concurrent.Promise;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Gives each frame to whoever waits for it first.
 */
final class WebSocketClientHandler extends SimpleChannelInboundHandler<WebSocketFrame> {
    private final Promise<Void> ready;
    private final Queue<Promise<WebSocketFrame>> awaiting = new ArrayDeque<>();
    private Throwable closedBy;

    /** @param ready done when the server has become a WebSocket */
    WebSocketClientHandler(Promise<Void> ready) {
        this.ready = ready;
    }

    /** To be called on the event loop. */
    void add(Promise<WebSocketFrame> next) {
        if (closedBy != null) {
            next.setFailure(closedBy);
        } else {
            awaiting.add(next);
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, WebSocketFrame frame) throws IOException {
        Promise<WebSocketFrame> next = awaiting.poll();
        if (next == null) {
            throw new IOException("nobody waits for this frame: " + frame);
        }
        if (!next.trySuccess(frame.retain())) {
            frame.release();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ClientHandshakeStateEvent.HANDSHAKE_COMPLETE) {
            ready.trySuccess(null);
        }
        ctx.fireUserEventTriggered(event);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        fail(new IOException("the server closed"));
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
        ready.tryFailure(closedBy);
        for (Promise<WebSocketFrame> next = awaiting.poll(); next != null; next = awaiting.poll()) {
            next.tryFailure(closedBy);
        }
    }
}
