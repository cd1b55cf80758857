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
package io.netty.microbench.rdma.bench;

import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.microbench.rdma.load.LoadClient;
import io.netty.microbench.rdma.load.Scenario;
import picocli.CommandLine.Command;

import java.util.List;

/**
 * The measuring client of the part "messages": many messages are in flight on each connection. An operation is {@link
 * #BATCH} messages.
 */
@Command(name = "messages-load", description = "Measures how many messages a second come back from an echo server.")
final class MessagesLoad extends LoadClient {
    static final int BATCH = 64;

    private MessagesLoad() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new MessagesLoad(), args));
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        // Each scenario opens its connections when it starts.
        EchoBatches batches = new EchoBatches(bootstrap(options, group), BATCH);
        return Section.MESSAGES_CONNECTIONS.stream()
                .map(connections -> new Scenario(Section.messages(connections), connections, 0, batches)).toList();
    }
}
