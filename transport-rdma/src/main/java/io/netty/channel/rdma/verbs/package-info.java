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
 * <caption>Implementations of the calls; see {@link VerbsApi}</caption>
 * <tr><th>provider</th><th>what</th><th>reaches</th></tr>
 * <tr><td>{@link VerbsProvider#IBVERBS}</td><td>libibverbs.so.1 and librdmacm.so.1, loaded with dlopen</td>
 * <td>other hosts, through adapters, soft-RoCE or iWARP</td></tr>
 * <tr><td>{@link VerbsProvider#EMBEDDED}</td><td>the same calls in user space, in our native library</td>
 * <td>processes of the same user on this host</td></tr>
 * </table>
 * A process can use both at the same time. Each object knows its {@link VerbsApi}, the function table of the provider
 * that made it, and refuses objects of the other one. Calls without a provider use {@link VerbsApi#preferred()}, the
 * furthest reaching provider that channels use. Nothing above this package depends on the provider.
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
 * Each {@link VerbsObject} is the only owner of its native object, and keeps the objects to its left from being closed.
 * Closing in the wrong order throws instead of crashing. {@link VerbsResource} counts the objects. A {@link Device}
 * that came from a {@link ConnectionId} belongs to the connection manager and is shared by the process. {@link
 * MemoryRegion} keeps a registered {@link java.nio.ByteBuffer} reachable.
 *
 * <h2>Connections and datagrams</h2>
 * A queue pair of type {@link QueuePairType#RELIABLE_CONNECTION} has one peer. One of type {@link
 * QueuePairType#UNRELIABLE_DATAGRAM} sends each request {@linkplain SendWorkRequests#to to} an {@link AddressHandle}, a
 * queue pair number and a queue key. The application gets these from {@link ConnectionEvent#addressVector()} and the
 * methods next to it, from the completion of a datagram ({@link ProtectionDomain#createAddressHandle(WorkCompletions,
 * int, long, int)}), or by other means. The memory of its receives begins with {@link
 * WorkCompletions#GLOBAL_HEADER_LENGTH} bytes that are not data.
 *
 * <h2>Threads</h2>
 * {@link VerbsApi}, {@link Device}, {@link ProtectionDomain}, {@link MemoryRegion} and {@link AddressHandle} may be
 * used by any thread. The others are used by one thread at a time, which in a transport is the event loop. In
 * particular, {@code close()} of an object must be ordered with its other calls. Checking in each poll whether another
 * thread closes the queue would cost more than the poll.
 *
 * <h2>Errors</h2>
 * <ul>
 * <li>{@link VerbsException}: a C call failed. The message has the call, the errno and, if known, the remedy.</li>
 * <li>{@link IllegalStateException}: used after {@code close()}, or closed while others use it.</li>
 * <li>{@link IllegalArgumentException}: a value out of its range, or an object of another provider.</li>
 * <li>{@link UnsatisfiedLinkError}: there is no provider. The message says what to install or load.</li>
 * <li>Posting fails in normal operation (a full queue), so it returns the number of posted requests.</li>
 * <li>A posted request ends with a {@link WorkCompletionStatus}, a connection with a {@link ConnectionEvent}.</li>
 * </ul>
 *
 * <h2>The hot path</h2>
 * Java writes work requests into a chain of native structs ({@link SendWorkRequests}, {@link ReceiveWorkRequests}), and
 * posts the chain with one call. Completions are polled in batches into a native array ({@link WorkCompletions}), and
 * read by offset. Only {@code long} addresses cross JNI: a call costs 7 ns, with a {@link java.nio.ByteBuffer} 20 ns.
 * Nothing is allocated. {@link CompletionQueue#pollOrArm} polls, arms and polls again in one call. So the race between
 * an empty poll and going to sleep is closed in one place.
 */
package io.netty.channel.rdma.verbs;
