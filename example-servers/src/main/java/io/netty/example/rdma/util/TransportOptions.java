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
package io.netty.example.rdma.util;

import io.netty.channel.MultiThreadIoEventLoopGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command line options that choose the transport, shared by all examples.
 */
public final class TransportOptions {
    @Mixin
    private EventLoopOptions eventLoops;

    @Option(names = "--transport", defaultValue = "rdma",
            description = "One of ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Transport transport;

    public Transport transport() {
        return transport;
    }

    public MultiThreadIoEventLoopGroup newGroup() {
        return eventLoops.newGroup(transport);
    }

    /** Returns the choices for users, with text behind the name of the transport. */
    String describe(String behindTransport) {
        return transport + behindTransport + eventLoops;
    }

    /** Returns the choices, for users. */
    @Override
    public String toString() {
        return describe("");
    }
}
