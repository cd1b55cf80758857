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

import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ServerOptions;
import io.netty.handler.ssl.SslContextBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.concurrent.Callable;

/**
 * A WebSocket server that echoes. Runs until it is killed.
 */
@Command(name = "websocket-server", description = "Sends back the frames that it receives, at the path "
        + WebSocketServerInitializer.PATH + ".")
public final class WebSocketServer implements Callable<Integer> {
    private static final int DEFAULT_MAX_FRAME = 16 << 20;

    @Mixin
    private ServerOptions server;

    @Option(names = "--max-frame", description = "Payload bytes of a frame at most (default: 16 MiB).")
    private int maxFrame = DEFAULT_MAX_FRAME;

    public static void main(String[] args) {
        System.exit(Commands.run(new WebSocketServer(), args));
    }

    @Override
    public Integer call() throws Exception {
        SslContextBuilder tls = server.sslContext();
        WebSocketServerInitializer.Limits limits = new WebSocketServerInitializer.Limits(server.idleMillis(), maxFrame);
        return server.serve("websocket echo",
                new WebSocketServerInitializer(tls == null ? null : tls.build(), limits));
    }
}
