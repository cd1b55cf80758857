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
/**
 * A gRPC service on any transport, by unshaded {@code grpc-netty}. {@code src/main/protobuf/echo.proto} and {@link
 * io.netty.example.rdma.grpc.EchoService} do not depend on the transport. {@link io.netty.example.rdma.grpc.GrpcServer}
 * and {@link io.netty.example.rdma.grpc.GrpcClient} choose it: for RDMA by {@code RdmaGrpc} of {@code
 * netty-transport-rdma-grpc}. The page docs/grpc.md tells the differences.
 *
 * <h2>Threads</h2>
 * The service runs on the event loop ({@code directExecutor()}), because nothing in it blocks. This saves two changes
 * of thread for each message.
 */
package io.netty.example.rdma.grpc;
