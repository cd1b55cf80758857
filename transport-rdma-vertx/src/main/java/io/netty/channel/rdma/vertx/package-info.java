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
 * RDMA as a transport of Vert.x.
 *
 * <h2>Who does what</h2>
 * <pre>
 *   RdmaTransport                 what an application gives to VertxBuilder.withTransport()
 *         │
 *   RdmaTransportImplementation   the SPI: event loops, channels, and which options of Vert.x they get
 *         │
 *   RdmaTransportProvider         sets it where a system property says so; Vert.x's service loader finds it
 * </pre>
 *
 * <h2>Which transport Vert.x takes</h2>
 * {@code VertxBuilder} takes the transport it was given, else with {@code preferNativeTransport} epoll, io_uring or
 * kqueue, else NIO. Then it calls each {@code VertxServiceProvider} that the service loader finds, and that may replace
 * it. A transport that says it is not available is replaced by NIO, and nothing is logged.
 *
 * <h2>Buffers</h2>
 * Applications of Vert.x never release a buffer: a {@code Buffer} is left to the garbage collector. So Vert.x copies
 * what it has read to the heap and releases it; but {@code VertxHandler.safeBuffer} does that only with buffers whose
 * allocator is by its class a {@code PooledByteBufAllocator} or an {@code AdaptiveByteBufAllocator}, or that are
 * composite. Any other it wraps as it is, and nobody releases it. A {@link io.netty.channel.rdma.RdmaSocketChannel}
 * delivers slices of its receive memory, whose {@code alloc()} is that of the channel. With {@link
 * io.netty.channel.rdma.RdmaByteBufAllocator}, its default, each of these would hold receive memory back for ever.
 *
 * <p>Vert.x sets its own allocator, which is Netty's default one, as an option of each channel, and it must stay so.
 * Then
 * <ul>
 * <li>what arrives is copied once, to the heap, as with epoll, where the first copy is the kernel's;
 * <li>what is sent is copied once, to registered memory: a {@code Buffer} is on the heap, from where no device reads.
 * With epoll that copy goes to direct memory, and the kernel makes another one.
 * </ul>
 */
package io.netty.channel.rdma.vertx;
