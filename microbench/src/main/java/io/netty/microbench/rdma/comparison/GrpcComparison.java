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

import io.netty.example.rdma.grpc.GrpcServerCommand;
import io.netty.example.rdma.util.Commands;
import io.netty.microbench.rdma.load.GrpcLoad;
import picocli.CommandLine.Command;

/**
 * The grpc example as a whole.
 */
@Command(name = "grpc", description = "Runs a gRPC server and a client that checks every answer, on one transport "
        + "after the other, and compares: unary calls, a bidirectional stream, large messages, server streaming.")
public final class GrpcComparison extends ExampleComparison {
    public GrpcComparison() {
        super(GrpcServerCommand.class, GrpcLoad.class);
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new GrpcComparison(), args));
    }
}
