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
 * Registered memory: where the bytes lie that devices read. Not for applications, which use {@link
 * io.netty.channel.rdma.RdmaByteBufAllocator} and {@link io.netty.channel.rdma.RegisteredMemory} of the package above.
 * It knows devices ({@code verbs}), and neither channels nor event loops.
 * <pre>
 *   Staging                     copies of bytes that can't be sent in place
 *      └── CellPool             the buffers of one allocator: slabs, and a cache for each thread
 *             ├── CellByteBuf ── Cell           a buffer, and the memory behind it
 *             ├── CellCache                     released buffers of one thread
 *             └── SlabArena ── Slab             memory regions of 16 MiB, cut by a buddy tree
 *                     └── PinnedMemory          how much may be registered
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
 * A cell has one reference of the buffer, until that is released or grows into another cell, and one of each work
 * request that uses the memory. {@code MemoryInFlight} gives back those of work requests that are complete. So a cell
 * begins another life only when no device reads it any more, whatever became of the buffer.
 *
 * <h2>Bounds</h2>
 * All registered memory of the process counts in {@code PinnedMemory.PROCESS}, by default half of the maximum direct
 * memory. The last eighth is for what is needed, such as the first receive memory of a connection; what only makes
 * things faster leaves it alone. Staging memory has a bound of its own within, so that buffers that the application
 * keeps can't stop sending. Slabs stay while there are event loops; then each is given back to the system with its last
 * buffer.
 *
 * <h2>When memory can't be registered</h2>
 * With the limit of locked memory reached, an allocator uses ordinary memory, which is copied when it is sent, and
 * tries again a second later at the earliest. Only without staging memory no connection can be made: {@code
 * Staging.reserve} says so when the first one is made.
 *
 * <h2>Threads</h2>
 * Any thread may allocate and release: the arena has one lock, and caches in front of it. {@code Staging} and {@code
 * MemoryInFlight} belong to an event loop.
 */
package io.netty.channel.rdma.memory;
