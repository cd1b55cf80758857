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
 * A gRPC service on any transport, by unshaded {@code grpc-netty}: {@code src/main/protobuf/echo.proto} and {@link
 * io.netty.example.rdma.grpc.EchoService} know nothing of it. {@link io.netty.example.rdma.grpc.GrpcServer} and {@link
 * io.netty.example.rdma.grpc.GrpcClient} are all that an application needs. ({@code grpc-netty-shaded} has classes of
 * its own in place of Netty's, and can't use a channel of anybody else.)
 *
 * <h2>What gRPC sets, and what to set for RDMA</h2>
 * Seen in grpc-netty 1.85, {@code NettyServer}, {@code NettyClientTransport}, {@code Utils}.
 * <table>
 * <caption>Assumptions of grpc-netty</caption>
 * <tr><th>gRPC</th><th>on RDMA</th></tr>
 * <tr><td>sets a pooled allocator of its own on every channel</td>
 *     <td>works, but each message is copied into registered memory: set {@code ChannelOption.ALLOCATOR} to {@link
 *     io.netty.channel.rdma.RdmaByteBufAllocator#DEFAULT} with {@code withChildOption} (server) and {@code withOption}
 *     (client), and messages are made where the device reads them</td></tr>
 * <tr><td>sets {@code SO_KEEPALIVE}</td>
 *     <td>the same meaning, with times of its own: see {@code RdmaChannelOption}</td></tr>
 * <tr><td>with {@code keepAliveTime}, sets {@code TCP_USER_TIMEOUT}, but only on epoll's channels</td>
 *     <td>set {@code RdmaChannelOption.USER_TIMEOUT_MILLIS} with {@code withOption}; gRPC's own ping works as
 *     anywhere</td></tr>
 * <tr><td>{@code channelType} with event loops, or neither</td>
 *     <td>give all: {@code bossEventLoopGroup}, {@code workerEventLoopGroup} and {@code channelType} to a server,
 *     {@code eventLoopGroup} and {@code channelType(..., InetSocketAddress.class)} to a client. gRPC does not end a
 *     group that it was given</td></tr>
 * <tr><td>a server may have many addresses, but one class of channels</td>
 *     <td>RDMA and TCP are two servers with the same services, event loops and port number: {@link
 *     io.netty.example.rdma.grpc.GrpcServer}</td></tr>
 * <tr><td>a client has one class of channels, and makes a channel before it knows where to connect it</td>
 *     <td>so it can't fall back to TCP by itself: {@link io.netty.example.rdma.grpc.GrpcClient#transportTo} finds out
 *     first which of them leads to a server</td></tr>
 * <tr><td>{@code LocalSocketPicker} chooses an address to connect from</td>
 *     <td>the same: it chooses the device</td></tr>
 * <tr><td>statistics of sockets ({@code TCP_INFO}, channelz) from epoll's channels</td>
 *     <td>channelz shows the options, and has no {@code TCP_INFO}</td></tr>
 * <tr><td>the water marks of the channel say when to write</td>
 *     <td>as RDMA channels have them</td></tr>
 * </table>
 *
 * <h2>Threads</h2>
 * The service runs on the event loop ({@code directExecutor()}), because nothing in it blocks: that saves two changes
 * of thread a message.
 */
package io.netty.example.rdma.grpc;
