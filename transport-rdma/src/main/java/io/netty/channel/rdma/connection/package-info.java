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
 * Connections: the queue pair of a channel and what happens on it. Not for applications. Below are event loops ({@code
 * loop}), registered memory ({@code memory}), the byte-stream protocol ({@code stream}) and the native objects ({@code
 * verbs}). Channels are above, and known by the interface {@link
 * io.netty.channel.rdma.connection.ConnectionOwner} alone.
 * <pre>
 *   RdmaConnection                  one byte-stream connection: completions, events, one turn of work
 *      ├── RdmaSender               posts what the protocol and the messages have
 *      │      ├── Gatherer          messages to work requests; one for each event loop
 *      │      └── RdmaOutbound      what is in flight: SendRing, by number; OutboundMessages, by message
 *      ├── RdmaInbound              what has arrived and was not read
 *      │      └── ReceiveMemory     where it arrives: grows and shrinks in LandingBuffers; LandedByteBuf
 *      ├── ReceiveQueue             the posted receives
 *      ├── Liveness                 does the peer answer?
 *      └── ConnectionEnd            how it ends, and when memory may be released
 *
 *   ConnectionResources             what a connection takes from its device and its loop, all or nothing
 *   QueuePairResources              of it, what connections of messages and datagram channels need as well
 *   DeviceLimits                    options against what the device can
 *   StreamOptions, QueuePairOptions, LivenessOptions, IntOption, OptionRange: values of options, and their checks
 *   StreamCounters                  bytes, by the way that they went
 * </pre>
 *
 * <h2>A turn</h2>
 * {@code completed} only takes note. {@code completionsDone} does what follows, once for all completions of a batch:
 * receives are posted again, promises completed, the pipeline reads, and control messages and what had to wait are sent
 * in one chain of work requests.
 *
 * <h2>What is in flight</h2>
 * Work requests carry numbers. What one reads belongs to it ({@code MemoryInFlight}), by its number, until its
 * completion or the end of the queue pair; never by its place in a queue of messages, which Netty discards when a
 * channel is closed. The package {@code io.netty.channel.rdma} says what that means to applications.
 *
 * <h2>Threads</h2>
 * All of it belongs to the thread of the loop that the channel is registered with, except where a method says "any
 * thread".
 */
package io.netty.channel.rdma.connection;
