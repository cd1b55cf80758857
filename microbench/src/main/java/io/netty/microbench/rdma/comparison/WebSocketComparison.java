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
package io.netty.microbench.rdma.comparison;

import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.websocket.WebSocketServer;
import io.netty.microbench.rdma.load.WebSocketLoad;
import picocli.CommandLine.Command;

/**
 * The websocket example as a whole.
 */
@Command(name = "websocket", description = "Runs a WebSocket echo server and a client that checks every frame, on one "
        + "transport after the other, and compares: short texts, one and many in flight, large frames.")
public final class WebSocketComparison extends ExampleComparison {
    public WebSocketComparison() {
        super(WebSocketServer.class, WebSocketLoad.class);
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new WebSocketComparison(), args));
    }
}
