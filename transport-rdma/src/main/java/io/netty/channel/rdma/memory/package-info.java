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
 * Registered memory, from which devices read. Not for applications, which use {@link
 * io.netty.channel.rdma.RdmaByteBufAllocator} and {@link io.netty.channel.rdma.RegisteredMemory} of the package above.
 * The package knows devices ({@code verbs}), but no channels or event loops.
 * <pre>
 *   Staging                     copies of bytes that can't be sent in place
 *      └── CellPool             the buffers of one allocator: slabs, and a cache for each thread
 *             ├── CellByteBuf ── Cell           a buffer, and the memory behind it
 *             ├── CellCache                     released buffers of one thread
 *             └── SlabArena ── Slab             memory regions of 16 MiB, cut by a buddy tree
 *                     └── PinnedMemory          the limit of registered memory
 *
 *   MemoryRange        memory that is registered with each device that uses it
 *   DeviceContext      one protection domain for each device, shared by all event loops
 *   RegisteredRanges   finds the slab and the cell of an address
 *   RequestMemory, MemoryInFlight   what the work requests in flight use
 *   PageMemory ── PagePool          pages that take no memory before something is written to them
 *   PartialByteBuf, DirectMemory    a buffer over a part of larger memory; addresses
 * </pre>
 *
 * <h2>Who owns memory</h2>
 * A cell has one reference of its buffer, until the buffer is released or grows into another cell, and one of each work
 * request that uses the memory. {@code MemoryInFlight} releases the references of completed work requests. So a cell is
 * used again only when no device reads it any more, even if the buffer was released long before.
 *
 * <h2>Bounds</h2>
 * All registered memory of the process counts in {@code PinnedMemory.PROCESS}. The limit is by default half of the
 * maximum direct memory. The last eighth is for necessary memory, such as the first receive memory of a connection.
 * Memory that only makes transfers faster does not use it. Staging memory has a limit of its own inside, so that
 * buffers that the application keeps can't stop sending. Slabs stay while there are event loops. After that each slab
 * is freed with its last buffer.
 *
 * <h2>When memory can't be registered</h2>
 * At the limit of locked memory an allocator uses ordinary memory, which is copied when it is sent. It tries to
 * register memory again after a second at the earliest. Without staging memory no connection can be made: {@code
 * Staging.reserve} fails at the first one.
 *
 * <h2>Threads</h2>
 * Any thread may allocate and release. The arena has one lock, with caches in front of it. {@code Staging} and {@code
 * MemoryInFlight} belong to an event loop.
 */
package io.netty.channel.rdma.memory;
