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
 * A proxy of byte streams, as a sidecar of an application is: it takes connections over TCP and goes on over RDMA, or
 * the other way round, and knows nothing of what goes through it. An application whose clients know TCP alone can thus
 * be reached over shared memory or an adapter, and an application that knows TCP alone can use a server on RDMA.
 *
 * <pre>
 * ProxyServer    the program
 *    |
 * Proxy          listens ({@code RdmaOrTcpServerSocketChannel}), and knows all its
 *    |           ProxySettings, ProxyCounters
 * Tunnel         a client's connection and the one to the server ({@code RdmaOrTcpSocketChannel}), on one event loop
 * </pre>
 *
 * <p><b>No copy of its own.</b> What was read from RDMA is a slice of the memory where it arrived, and is written to
 * TCP as it is. What is read from TCP is read into memory of the other connection's allocator, which is registered, and
 * is sent from there. Pieces that are short enough for a copy to be cheaper are copied by the transport ({@code
 * RdmaChannelOption.SEND_COPY_THRESHOLD}, {@code RECEIVE_COPY_THRESHOLD}).
 *
 * <p><b>What one side does happens to the other one.</b> A side that doesn't take what is written to it makes the proxy
 * read no more from the other, so a connection has a bounded number of bytes in the proxy. A side that has sent
 * everything (half close) is the end of what the other one gets, behind all of it, and what comes back goes on. A reset
 * is a reset, also if it is a server that can't be reached: nobody takes it for the end of the data.
 *
 * <p>{@link io.netty.example.rdma.proxy.Tunnel} is where all that is.
 */
package io.netty.example.rdma.proxy;
