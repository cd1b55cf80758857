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
 * gRPC over RDMA: configuration of {@code grpc-netty}'s builders.
 *
 * <p>{@link io.netty.channel.rdma.grpc.RdmaGrpc} sets the channel classes, the event loops, and the allocator of these
 * builders. gRPC uses the allocator for its messages, and Netty's codec for headers. There are no providers for gRPC's
 * registries, so the application chooses the builder.
 *
 * <p>{@code Connections} adds a handler to each connection before gRPC's, which leaves as soon as the connection is
 * active. gRPC shows a call the attributes of its connection, and only code with the connection's channel can add to
 * them, such as this handler. Both find the connection by the object that is its local address.
 */
package io.netty.channel.rdma.grpc;
