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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.Transport;
import io.netty.microbench.rdma.process.Control;
import picocli.CommandLine.Mixin;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * The client's process of a comparison. This command connects to a running server, prints its scenarios, and then
 * executes the commands of its {@link Control}. The exit status is 0 if every answer was right.
 */
public abstract class LoadClient implements Callable<Integer> {
    @Mixin
    private ClientOptions options;

    /**
     * Connects, and returns the scenarios.
     *
     * @param options address of the server, and the transport
     * @param group   event loop group of all connections. It has one event loop, or those of {@code --threads}
     */
    public abstract List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception;

    /**
     * Adds further commands of this process.
     *
     * @param options address of the server, and the transport
     * @param group   event loop group of all connections. It has one event loop
     */
    protected void addCommands(Control control, ClientOptions options, EventLoopGroup group) throws Exception {
        // Most clients have only scenarios.
    }

    /** Returns a bootstrap for connections to the server, without their handler. */
    protected static Bootstrap bootstrap(ClientOptions options, EventLoopGroup group) throws IOException {
        Transport transport = options.transport().transport();
        return new Bootstrap().group(group).channel(transport.channelType())
                .remoteAddress(transport.address(options.host(), options.port()));
    }

    @Override
    public final Integer call() throws Exception {
        EventLoopGroup group = options.newGroup();
        try {
            Control control = LoadCommands.control(group, scenarios(options, group));
            addCommands(control, options, group);
            control.run();
            return 0;
        } finally {
            Commands.shutdown(group);
        }
    }
}
