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
 * RDMA verbs and the RDMA connection manager as typed objects over native addresses. No channel, no pipeline, no
 * policy.
 *
 * <h2>Providers</h2>
 * <table>
 * <caption>Who makes the calls; see {@link VerbsApi}</caption>
 * <tr><th>provider</th><th>what</th><th>reaches</th></tr>
 * <tr><td>{@link VerbsProvider#IBVERBS}</td><td>libibverbs.so.1 and librdmacm.so.1, loaded with dlopen</td>
 * <td>other hosts, through adapters, soft-RoCE or iWARP</td></tr>
 * <tr><td>{@link VerbsProvider#EMBEDDED}</td><td>the same calls in user space, in our native library</td>
 * <td>processes of the same user on this host</td></tr>
 * </table>
 * A process can use both, side by side: each object knows its {@link VerbsApi}, that is the function table of the
 * native library that made it, and refuses objects of the other one. Calls that name none mean
 * {@link VerbsApi#preferred()}, the furthest reaching one of those that channels use. Above this package nothing
 * depends on which it is.
 *
 * <h2>Objects</h2>
 * <pre>
 *   Device ── ProtectionDomain ── MemoryRegion
 *      │             ├── MemoryWindow
 *      │             ├── AddressHandle
 *      │             ├── SharedReceiveQueue
 *      │             └────────────────┤
 *      ├── CompletionChannel          │
 *      │        └── CompletionQueue ── QueuePair ── ConnectionId ── EventChannel
 *      └─────────────────┘
 * </pre>
 * Each {@link VerbsObject} is the only owner of its native object and keeps the objects to its left from being closed;
 * closing in the wrong order throws instead of crashing. {@link VerbsResource} counts what exists. A
 * {@link Device} that came from a {@link ConnectionId} belongs to the connection manager and is shared by the process.
 * {@link MemoryRegion} keeps a registered {@link java.nio.ByteBuffer} reachable.
 *
 * <h2>Connections and datagrams</h2>
 * A queue pair of type {@link QueuePairType#RELIABLE_CONNECTION} has one peer. One of type
 * {@link QueuePairType#UNRELIABLE_DATAGRAM} sends each request {@linkplain SendWorkRequests#to to} an
 * {@link AddressHandle}, a queue pair number and a queue key: from {@link ConnectionEvent#addressVector()} and its
 * neighbours, from the completion of a datagram
 * ({@link ProtectionDomain#createAddressHandle(WorkCompletions, int, long, int)}), or as told otherwise. The memory of
 * its receives begins with {@link WorkCompletions#GLOBAL_HEADER_LENGTH} bytes that are not data.
 *
 * <h2>Threads</h2>
 * {@link VerbsApi}, {@link Device}, {@link ProtectionDomain}, {@link MemoryRegion} and {@link AddressHandle} may be
 * used by any thread. The others are used by one thread at a time, which in a transport is the event loop. In
 * particular {@code close()} of an object must be ordered with its other calls: a check on each poll that another
 * thread isn't closing the queue would cost more than the poll.
 *
 * <h2>Errors</h2>
 * <ul>
 * <li>{@link VerbsException}: a C call failed; names it, the errno and, where there is a known cure, the cure.</li>
 * <li>{@link IllegalStateException}: used after {@code close()}, or closed while others use it.</li>
 * <li>{@link IllegalArgumentException}: a value out of its range, or an object of another provider.</li>
 * <li>{@link UnsatisfiedLinkError}: there is no provider; says what to install or load.</li>
 * <li>Posting, the one hot path that fails in normal operation (a full queue), returns the number posted.</li>
 * <li>What becomes of a posted request is a {@link WorkCompletionStatus}, of a connection a
 * {@link ConnectionEvent}.</li>
 * </ul>
 *
 * <h2>The hot path</h2>
 * Work requests are written by Java into a chain of native structs ({@link SendWorkRequests},
 * {@link ReceiveWorkRequests}) and posted with one call; completions are polled in batches into a native array
 * ({@link WorkCompletions}) and read by offset. Only {@code long} addresses cross JNI, which costs 7 ns a call where a
 * {@link java.nio.ByteBuffer} costs 20, and nothing is allocated. {@link CompletionQueue#pollOrArm} does poll, arm and
 * poll again in one call, so that there is one place where the race between an empty poll and going to sleep is closed.
 */
package io.netty.channel.rdma.verbs;
