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

import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * Sends texts to a WebSocket echo server. The exit status is 0 if each came back.
 */
@Command(name = "websocket-client", description = "Sends texts to a WebSocket echo server and prints what comes back.")
public final class WebSocketClient implements Callable<Integer> {
    @Mixin
    private ClientOptions options;

    @Option(names = "--compression", description = "Ask for permessage-deflate.")
    private boolean compression;

    @Parameters(defaultValue = "Hello, World!", description = "What to send (default: ${DEFAULT-VALUE}).")
    private List<String> texts;

    public static void main(String[] args) {
        System.exit(Commands.run(new WebSocketClient(), args));
    }

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = options.newGroup();
        try {
            WebSocketConnection connection = WebSocketConnection.open(options, group, compression);
            int status = 0;
            for (String text : texts) {
                String answer = exchange(connection, new TextWebSocketFrame(text));
                System.out.println(answer);
                if (!answer.equals(text)) {
                    status = 1;
                }
            }
            exchange(connection, new CloseWebSocketFrame(WebSocketCloseStatus.NORMAL_CLOSURE));
            System.err.println(options.transport().describe(connection.channel()));
            return status;
        } finally {
            Commands.shutdown(group);
        }
    }

    private static String exchange(WebSocketConnection connection, WebSocketFrame frame) throws Exception {
        WebSocketFrame answer = connection.channel().eventLoop().submit(() -> connection.send(frame)).get().get();
        try {
            return answer instanceof TextWebSocketFrame text ? text.text() : answer.toString();
        } finally {
            answer.release();
        }
    }
}
