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
 * Servers that listen for RDMA and TCP at the same port, and clients that take RDMA if they can, else TCP.
 *
 * <h2>Who does what</h2>
 * <pre>
 *   RdmaOrTcpServerSocketChannel         RdmaOrTcpSocketChannel ── PendingWrites
 *            │                                     │
 *        BindRules                            ConnectPlan ── RdmaOrTcpFallback: why TCP
 *            │                                     │         RdmaOrTcpFailures: where RDMA has failed
 *            │                                     │         Probes: where it answers again
 *            └─── RdmaOrTcpRule, RdmaOrTcpChoice ──┘         what may be
 *            └─── RelayHandler, Deregistrations ───┘         what happens on the channel of a transport
 *            └─── ChannelTypes, KnownOptions ──────┘         which classes, and which options they know
 *            └─── RdmaOrTcp, RdmaOrTcpMetrics, ────┘         what tells which transport it was
 *                 FallbackLog
 * </pre>
 * This package uses the public channels of {@code io.netty.channel.rdma}, which does not depend on it. {@code
 * ConnectPlan} and {@code RdmaOrTcpFailures} use the rules and the memory of the package {@code attempt}, which {@code
 * RdmaSocketChannel} uses for its providers as well. Event loops for RDMA also serve epoll's channels, so one group
 * serves both. On other event loops there is TCP alone.
 *
 * <h2>A channel above, a channel beneath</h2>
 * Applications and libraries give a channel class to Netty's bootstraps, so the channel must exist before its transport
 * is known. {@link io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel} has a pipeline and attributes of its own.
 * Beneath it is the carrier, a channel of RDMA or TCP that connects. If its attempt fails, another carrier replaces it.
 * The carrier is made when the address is known. So a destination to which RDMA is not tried (by a rule, or after a
 * failure a moment ago) needs no RDMA channel. Until then a configuration without a channel keeps the options. A
 * registration without a channel makes the event loop count the channel, and close it at its end.
 *
 * <p>A message passes only one outbound buffer, the carrier's. {@code Unsafe.write} and {@code flush} are those of the
 * carrier, with the promises of the application. So water marks, the order of promises and errors are those of the
 * carrier. A handler in the carrier fires reads and events into the pipeline above, in the same call. {@code
 * PendingWrites} keeps messages that are written before the connection is made. The cost is one handler context for
 * each event, and a pipeline for each connection.
 *
 * <p>Only the pipeline above decides about reading. Both channels have the same {@code autoRead}, because read loops
 * check it, but {@code RelayHandler} drops the {@code read()} of the carrier itself. A close first closes the carrier,
 * which may have to wait for flushed messages. When the carrier is closed, the channel above closes. A deregistration
 * first deregisters the carrier.
 *
 * <p>A server's channel has two listeners beneath it, and fires the channels that they accept. These are plain channels
 * of RDMA or TCP, so a server has no relay on the way of a message.
 *
 * <h2>Never silently</h2>
 * A service that runs over TCP because of a missing kernel module works, but is slower. So the transport of each
 * connection is visible in four places: the class of the channel (or of {@code transportChannel()}), attributes, the
 * log, and counters. At its usual levels the log has changes: the first connection to a destination over TCP, another
 * reason for it, the return to RDMA, and the transports of each server. The number of lines is limited ({@code
 * FallbackLog}).
 *
 * <h2>One after the other</h2>
 * The attempts are not raced as in RFC 8305. A server would see each client twice, and TCP would win most of the races,
 * because its handshake is done by the kernel alone. In nearly all cases RDMA has an answer or an error within
 * milliseconds, in the others within a limited time. Destinations where RDMA has failed are remembered for a while.
 * After that time one connect tries RDMA again, and connects that begin meanwhile still use TCP. If TCP fails as well,
 * the peer is down, and nothing is remembered.
 *
 * <h2>The way back</h2>
 * A connection over TCP stays there, because this package never closes a connection of the application. gRPC has a
 * single connection for days. If the application wants it, {@code Probes} checks in the background whether RDMA answers
 * again, and tells the application. Only the application, or its library, knows when a connection can be replaced.
 *
 * <h2>Two number spaces</h2>
 * RDMA and TCP have separate port numbers. So another program may listen for RDMA at the port number at which a server
 * listens for TCP alone, and gets the clients that try RDMA first. Everyone who can run programs on the server's host
 * can do that. {@code RdmaOrTcpServerSocketChannel} binds both ports or none. Where there is no RDMA to bind, and in
 * general, only TLS tells a client which server it talks to.
 */
package io.netty.channel.rdma.ortcp;
