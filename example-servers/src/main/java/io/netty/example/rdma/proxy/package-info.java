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
 * A proxy of byte streams, as a sidecar of an application. It takes connections over TCP and goes on over RDMA, or the
 * other way round, and does not interpret the bytes. So clients that know only TCP can reach an application over shared
 * memory or an adapter, and an application that knows only TCP can use a server on RDMA.
 *
 * <pre>
 * ProxyServer    the program
 *    |
 * Proxy          listens ({@code RdmaOrTcpServerSocketChannel}), and knows all its tunnels
 *    |           ProxySettings, ProxyCounters
 * Tunnel         a client's connection and the one to the server ({@code RdmaOrTcpSocketChannel}), on one event loop
 * </pre>
 *
 * <p><b>No copy of its own.</b> Bytes that were read from RDMA are a slice of the memory where they arrived, and this
 * slice is written to TCP. Bytes from TCP are read into registered memory of the other connection's allocator, and are
 * sent from there. The transport copies short pieces, for which a copy is cheaper ({@code
 * RdmaChannelOption.SEND_COPY_THRESHOLD}, {@code RECEIVE_COPY_THRESHOLD}).
 *
 * <p><b>Both connections behave as one.</b> If one side does not take the bytes that are written to it, the proxy stops
 * reading from the other side. So a connection has a bounded number of bytes in the proxy. If one side ends its output
 * (half close), the proxy ends the output to the other side behind all bytes, and the other direction goes on. A reset
 * of one side resets the other side, and so does a server that can't be reached. So no end takes an error for the end
 * of the data.
 *
 * <p>{@link io.netty.example.rdma.proxy.Tunnel} does all this.
 */
package io.netty.example.rdma.proxy;
