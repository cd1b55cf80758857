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
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.Pattern;
import io.netty.example.rdma.websocket.WebSocketConnection;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import picocli.CommandLine.Command;

import java.io.IOException;
import java.util.List;
import java.util.function.Predicate;

/**
 * The measuring client of the websocket example.
 */
@Command(name = "websocket-load", description = "Measures a WebSocket echo and checks every answer.")
public final class WebSocketLoad extends LoadClient {
    private static final String TEXT = "x".repeat(64);
    private static final int IN_FLIGHT = 16;

    private WebSocketLoad() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new WebSocketLoad(), args));
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        WebSocketConnection connection = WebSocketConnection.open(options, group, false);
        return List.of(
                Scenario.oneByOne("text of 64 B", () -> text(connection)),
                new Scenario("text of 64 B, " + IN_FLIGHT + " in flight", IN_FLIGHT, 0, () -> text(connection)),
                Scenario.transfer("binary of 64 KiB", 64 << 10, () -> binary(connection, 64 << 10)),
                Scenario.transfer("binary of 4 MiB", 4 << 20, () -> binary(connection, 4 << 20)));
    }

    private static Future<Void> text(WebSocketConnection connection) {
        return check(connection, connection.send(new TextWebSocketFrame(TEXT)),
                frame -> frame instanceof TextWebSocketFrame text && text.text().equals(TEXT));
    }

    private static Future<Void> binary(WebSocketConnection connection, int bytes) {
        ByteBuf content = connection.channel().alloc().directBuffer(bytes);
        Pattern.write(content, 0, bytes);
        return check(connection, connection.send(new BinaryWebSocketFrame(content)),
                frame -> frame instanceof BinaryWebSocketFrame && frame.content().readableBytes() == bytes
                        && Pattern.matches(frame.content(), 0));
    }

    private static Future<Void> check(WebSocketConnection connection, Future<WebSocketFrame> answer,
                                      Predicate<WebSocketFrame> isRight) {
        Promise<Void> checked = connection.channel().eventLoop().newPromise();
        answer.addListener(done -> {
            if (!done.isSuccess()) {
                checked.setFailure(done.cause());
                return;
            }
            WebSocketFrame frame = answer.getNow();
            try {
                if (isRight.test(frame)) {
                    checked.setSuccess(null);
                } else {
                    checked.setFailure(new IOException("not what was sent: " + frame));
                }
            } finally {
                frame.release();
            }
        });
        return checked;
    }
}
