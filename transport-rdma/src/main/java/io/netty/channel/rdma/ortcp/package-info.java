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
 * One port, both worlds: servers that listen for RDMA and TCP at once, and clients that take RDMA if they can and TCP
 * if they can't.
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
 * This package is made of the public channels of {@code io.netty.channel.rdma}, which knows nothing of it. The rules of
 * {@code ConnectPlan}, and the memory of {@code RdmaOrTcpFailures}, are those of the package {@code attempt}, which
 * {@code RdmaSocketChannel} has for its providers as well. Event loops for RDMA serve epoll's channels as well, so
 * there is one group for both; on others there is TCP alone.
 *
 * <h2>A channel above, a channel beneath</h2>
 * Applications and libraries give a channel class to Netty's bootstraps, and it must be one channel before it is known
 * what it goes over. So {@link io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel} has a pipeline, attributes and a
 * life of its own, and beneath it a channel that connects, which is replaced if its transport does not do.
 * That channel, the carrier, is made when the address is known, so that a destination where RDMA is not tried, by a
 * rule or because it has failed there a moment ago, costs no channel of RDMA. Before that, a configuration without a
 * channel has the options, and a registration without one makes the event loop count the channel and close it.
 *
 * <p>It is no second channel on the way of a message. {@code Unsafe.write} and {@code flush} are those of the channel
 * beneath, with the promises of the application, so there is one outbound buffer, with the water marks, the order of
 * promises and the errors of that channel; what it reads and what happens to it is fired into the pipeline above by
 * a handler, from the same call. What is written before the connection is made waits in {@code PendingWrites}. The cost
 * is one handler context for each event, and a pipeline for each connection.
 *
 * <p>Reading belongs to the pipeline above alone. Both channels have the same {@code autoRead}, since read loops ask
 * for it, but {@code RelayHandler} drops the {@code read()} that the channel beneath would do by itself. A close is one
 * of the channel beneath, which may have to wait for what was flushed; when that is closed, so is the one above. A
 * deregistration, too, is first one of the channel beneath.
 *
 * <p>A server's channel has two listeners beneath it, and fires what they accept. These are channels of the transport
 * themselves: a server has no relay on the way of a message.
 *
 * <h2>Never silently</h2>
 * A service that runs over TCP because of a missing kernel module is slower, and works. So the transport of each
 * connection is told four times: by the class of the channel (or of {@code transportChannel()}), by attributes, in the
 * log and by counters. The log has at its usual levels what changes: the first connection to a destination over TCP,
 * another reason for it, the return to RDMA, and what each server listens for; but no more lines than somebody reads.
 *
 * <h2>One after the other</h2>
 * The attempts are not raced as those of RFC 8305: a server would see each client twice, and TCP, whose handshake is
 * the kernel's alone, would win most of the races. RDMA has an answer or an error within milliseconds in nearly all
 * cases, and a bounded time in the others; destinations where it failed are remembered for a while. When that is over
 * one connect tries, and those that begin meanwhile still go over TCP. Nothing is remembered of a peer that is down,
 * and so fails over TCP as well.
 *
 * <h2>The way back</h2>
 * A connection is never closed under the application, so one over TCP stays there, and gRPC has a single one for days.
 * {@code Probes} looks in the background whether RDMA answers again, if the application wants that, and tells it: only
 * the application, or its library, knows when a connection can be replaced.
 *
 * <h2>Two number spaces</h2>
 * The ports of RDMA and those of TCP have nothing to do with each other, so another program may listen for RDMA at the
 * number at which a server listens for TCP alone, and gets the clients that try RDMA first. Whoever can run programs on
 * the server's host can do that. {@code RdmaOrTcpServerSocketChannel} takes both numbers or none; where there is no
 * RDMA to take, and in general, it is TLS that tells a client whom it talks to.
 */
package io.netty.channel.rdma.ortcp;
