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
 * verbs}). Channels are above. This package knows them only by the interface {@link
 * io.netty.channel.rdma.connection.ConnectionOwner}.
 * <pre>
 *   RdmaConnection                  one byte-stream connection: completions, events, one turn of work
 *      ├── SendPath                 decides when to send, and posts control messages and bytes
 *      │      ├── Gatherer          makes work requests from messages; one for each event loop
 *      │      ├── OutboundMessages  the flushed messages, how much of them is in flight, and their completion
 *      │      └── SendRing          the requests in flight, by the numbers of the protocol's SendQueue
 *      ├── RdmaInbound              the bytes that have arrived and were not read
 *      │      └── ReceiveMemory     the memory where they arrive: grows and shrinks in ReceiveBuffers; ReceivedByteBuf
 *      ├── ReceiveQueue             the posted receives
 *      ├── Liveness                 finds a peer that does not answer
 *      └── ConnectionLife           the state: how the connection begins and ends, and when memory may be released
 *
 *   ReadLoop                        gives arrivals to a pipeline: bytes, messages, or accepted connections
 *   OutgoingConnection              this end of a connection that was requested from a peer: of bytes, or of messages
 *   ConnectionResources             takes what a connection needs from its device and its loop, all or nothing
 *   QueuePairResources              the part of it that message and datagram channels need as well, within the limits
 *                                   of the device
 *   OptionRow, OptionTable, OptionValues   an option; the options of a class of channels; their values in a channel
 *   StreamOptions, QueuePairOptions, LivenessOptions, DeviceOptions   the rows, and methods that use their values
 *   StreamCounters                  bytes sent in place, inline or copied; the connection as monitoring sees it
 *   Bind, Reachability, Rejection   errors of binding and connecting, as those of sockets, with advice
 * </pre>
 *
 * <h2>A turn</h2>
 * {@code completed} only records a completion. {@code completionsDone} does the work, once for all completions of a
 * batch: it posts receives again, completes promises, and lets the pipeline read. Then it sends control messages, and
 * the bytes that had to wait, in one chain of work requests. The first flush of a turn is posted at once, so that a
 * peer that has asked for one thing gets its answer at once. Further flushes wait for the end of the turn, so that many
 * answers are one chain. This is the turn of the connection and not that of the event loop. With a thousand connections
 * the end of the loop's turn may come a thousand times as late.
 *
 * <p>Receives are not posted again in each turn. The peer never has more credits for data than there are receives left.
 * So the receives that data has used are posted before the peer gets new credits, many with one call.
 *
 * <h2>What is in flight</h2>
 * Work requests carry numbers. The memory that a request reads belongs to it ({@code MemoryInFlight}), by its number,
 * until its completion or the end of the queue pair. The place of a message in a queue does not matter, because Netty
 * discards messages when a channel is closed. The package {@code io.netty.channel.rdma} says what that means to
 * applications.
 *
 * <h2>States</h2>
 * {@code ConnectionLife} has the state, gets the events, and describes each state.
 * <pre>
 *   CREATED ── NEGOTIATED ── READY ── OPEN ── CLOSING
 *      │           │           │        │        │  (disconnect)
 *      └───────────┴───────────┴────────┤     ABORTING
 *                          (disconnect) │        │
 *                                    FLUSHING    │
 *                                       │        │
 *                                     LOST ──────┴──── DESTROYED
 * </pre>
 * <table>
 * <caption>The state that follows an event; "-": the event changes nothing. CREATED, NEGOTIATED and READY are as OPEN
 * where a cell does not name them.</caption>
 * <tr><th>event</th><th>OPEN</th><th>CLOSING</th><th>FLUSHING</th><th>LOST</th><th>ABORTING</th></tr>
 * <tr><td>the private data of the peer arrives</td><td>CREATED: NEGOTIATED</td><td>-</td><td>noted, see
 *     below</td><td>-</td><td>-</td></tr>
 * <tr><td>a message, or "established" of the connection manager</td><td>NEGOTIATED: READY; CREATED keeps it for
 *     later</td><td>handled</td><td>handled, and noted</td><td>handled</td><td>-</td></tr>
 * <tr><td>a turn ends (server), or the connect promise is done (client)</td><td>READY: OPEN</td><td>sends more, or
 *     ends: DESTROYED</td><td>if all requests are back: LOST, the channel is told</td><td>-</td><td>DESTROYED</td></tr>
 * <tr><td>a work request failed, or can't be
 *     posted</td><td>FLUSHING</td><td>ABORTING</td><td>-</td><td>-</td><td>-</td></tr>
 * <tr><td>the peer disconnects, rejects, or does not answer</td><td>FLUSHING</td><td>DESTROYED</td><td>LOST after 3 s
 *     at the latest</td><td>-</td><td>DESTROYED</td></tr>
 * <tr><td>the peer breaks the protocol; the device
 *     fails</td><td>FLUSHING</td><td>ABORTING</td><td>-</td><td>-</td><td>-</td></tr>
 * <tr><td>the transport or a handler throws an exception</td><td>FLUSHING, and LOST without
 *     waiting</td><td>ABORTING</td><td>LOST without waiting</td><td>the channel is closed:
 *     DESTROYED</td><td>DESTROYED</td></tr>
 * <tr><td>the channel is closed</td><td>CREATED, NEGOTIATED: DESTROYED; else CLOSING, or with a reset
 *     DESTROYED</td><td>with a reset DESTROYED</td><td>DESTROYED</td><td>DESTROYED</td><td>DESTROYED</td></tr>
 * <tr><td>the peer took nothing for a minute or not all in five, or the event loop ends</td><td>the loop:
 *     DESTROYED</td><td>DESTROYED</td><td>the loop: DESTROYED</td><td>the loop: DESTROYED</td><td>DESTROYED</td></tr>
 * </table>
 * A connection may break in the turn in which its peer turns out to be ready. It was established first, so its channel
 * becomes active, and gets the bytes that the peer has sent. For this, {@code ConnectionLife} also notes the last of
 * the first four states that the connection has reached. {@code ConnectionLifeTest} has the table with all states, and
 * runs each of its cells.
 *
 * <h2>Threads</h2>
 * All of it belongs to the thread of the loop that the channel is registered with, except where a method says "any
 * thread".
 */
package io.netty.channel.rdma.connection;
