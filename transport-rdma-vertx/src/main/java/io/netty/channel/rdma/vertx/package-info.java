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
 *   RdmaTransport                 an application gives it to VertxBuilder.withTransport()
 *         │
 *   RdmaTransportImplementation   the SPI: event loops, channels, and which options of Vert.x they get
 *         │
 *   RdmaTransportProvider         sets it if a system property says so; Vert.x's service loader finds it
 * </pre>
 *
 * <h2>Which transport Vert.x takes</h2>
 * {@code VertxBuilder} takes the transport it was given, else with {@code preferNativeTransport} epoll, io_uring or
 * kqueue, else NIO. Then it calls each {@code VertxServiceProvider} that the service loader finds, which may replace
 * the transport. If a transport is not available, Vert.x takes NIO and logs nothing.
 *
 * <h2>Buffers</h2>
 * Applications of Vert.x never release a {@code Buffer}; the garbage collector takes it. So Vert.x copies a buffer that
 * it has read to the heap, and releases it. But {@code VertxHandler.safeBuffer} does that only if the class of the
 * buffer's allocator is {@code PooledByteBufAllocator} or {@code AdaptiveByteBufAllocator}, or if the buffer is
 * composite. It wraps other buffers, which are never released. A {@link io.netty.channel.rdma.RdmaSocketChannel}
 * delivers slices of its receive memory, whose {@code alloc()} is the channel's. With {@link
 * io.netty.channel.rdma.RdmaByteBufAllocator}, the default, each slice would hold receive memory for ever.
 *
 * <p>Vert.x sets its own allocator, Netty's default, as an option of each channel, and must keep it. Then
 * <ul>
 * <li>received bytes are copied once, to the heap, as with epoll, where the kernel makes another copy first;
 * <li>sent bytes are copied once, to registered memory, because a {@code Buffer} is on the heap, and no device reads
 * there. With epoll that copy goes to direct memory, and the kernel makes another one.
 * </ul>
 */
package io.netty.channel.rdma.vertx;
