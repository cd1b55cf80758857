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
 *      ├── SendPath                 posts what the protocol and the messages have, and decides when
 *      │      ├── Gatherer          messages to work requests; one for each event loop
 *      │      ├── OutboundMessages  the flushed messages, how much of them is in flight, and their completion
 *      │      └── SendRing          what is in flight, by the numbers of the protocol's SendQueue
 *      ├── RdmaInbound              what has arrived and was not read
 *      │      └── ReceiveMemory     where it arrives: grows and shrinks in ReceiveBuffers; ReceivedByteBuf
 *      ├── ReceiveQueue             the posted receives
 *      ├── Liveness                 does the peer answer?
 *      └── ConnectionLife           its state: how it begins and ends, and when memory may be released
 *
 *   ReadLoop                        gives what has arrived to a pipeline: bytes, messages, or accepted connections
 *   OutgoingConnection              this end of a connection that a peer is asked for: of bytes, or of messages
 *   ConnectionResources             what a connection takes from its device and its loop, all or nothing
 *   QueuePairResources              of it, what connections of messages and datagram channels need as well, as far as
 *                                   the device can
 *   OptionRow, OptionTable, OptionValues   an option; the options of a class of channels; their values in a channel
 *   StreamOptions, QueuePairOptions, LivenessOptions, DeviceOptions   the rows, and what follows from their values
 *   StreamCounters                  bytes by the way that they went, and what is known of the connection from outside
 *   Bind, Reachability, Rejection   errors of binding and connecting, as those of sockets and with what to do
 * </pre>
 *
 * <h2>A turn</h2>
 * {@code completed} only takes note. {@code completionsDone} does what follows, once for all completions of a batch:
 * receives are posted again, promises completed, the pipeline reads, and control messages and what had to wait are sent
 * in one chain of work requests. What handlers flush in a turn waits for its end, but for the first flush: a peer that
 * has asked for one thing gets it at once, and the answers to many are one chain. The end is that of the turn of the
 * connection, not of the event loop's: with a thousand connections that may come a thousand times as late.
 *
 * <p>Receives are not posted again in each turn. The peer has no credits for more data than there are receives left, so
 * those that data used are posted before it is granted new ones, many with one call.
 *
 * <h2>What is in flight</h2>
 * Work requests carry numbers. What one reads belongs to it ({@code MemoryInFlight}), by its number, until its
 * completion or the end of the queue pair; never by its place in a queue of messages, which Netty discards when a
 * channel is closed. The package {@code io.netty.channel.rdma} says what that means to applications.
 *
 * <h2>States</h2>
 * {@code ConnectionLife} says what each is, has the state and gets the events.
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
 * <caption>What an event makes of a state; "-": nothing. CREATED to OPEN are as OPEN where they are not
 * named.</caption>
 * <tr><th>event</th><th>OPEN</th><th>CLOSING</th><th>FLUSHING</th><th>LOST</th><th>ABORTING</th></tr>
 * <tr><td>what the peer says of itself</td><td>CREATED: NEGOTIATED</td><td>-</td><td>noted, see below</td><td>-</td>
 *     <td>-</td></tr>
 * <tr><td>a message, or "established" of the connection manager</td><td>NEGOTIATED: READY; CREATED keeps it for
 *     later</td><td>taken</td><td>taken, and noted</td><td>taken</td><td>-</td></tr>
 * <tr><td>the end of a turn (server), or the connect promise was told (client)</td><td>READY: OPEN</td><td>sends more,
 *     or ends: DESTROYED</td><td>if all has come back: LOST, the channel is told</td><td>-</td><td>DESTROYED</td></tr>
 * <tr><td>a work request failed, or can't be
 *     posted</td><td>FLUSHING</td><td>ABORTING</td><td>-</td><td>-</td><td>-</td> </tr>
 * <tr><td>the peer disconnects, rejects, or does not answer</td><td>FLUSHING</td><td>DESTROYED</td><td>LOST after 3 s
 *     at the latest</td><td>-</td><td>DESTROYED</td></tr>
 * <tr><td>the peer breaks the protocol; the device fails</td><td>FLUSHING</td><td>ABORTING</td><td>-</td><td>-</td>
 *     <td>-</td></tr>
 * <tr><td>an exception of the transport's or a handler's</td><td>FLUSHING, and LOST without waiting</td><td>ABORTING
 *     </td><td>LOST without waiting</td><td>the channel is closed: DESTROYED</td><td>DESTROYED</td></tr>
 * <tr><td>the channel is closed</td><td>CREATED, NEGOTIATED: DESTROYED; else CLOSING, or with a reset DESTROYED</td>
 *     <td>with a reset DESTROYED</td><td>DESTROYED</td><td>DESTROYED</td><td>DESTROYED</td></tr>
 * <tr><td>nothing was taken for a minute or not all in five, or the event loop ends</td><td>the loop: DESTROYED</td>
 *     <td>DESTROYED</td><td>the loop: DESTROYED</td><td>the loop: DESTROYED</td><td>DESTROYED</td></tr>
 * </table>
 * A connection that breaks in the turn in which its peer turned out to be ready was established nevertheless: its
 * channel becomes active, and gets what the peer has sent. So beside the state {@code ConnectionLife} notes how far the
 * connection had come. {@code ConnectionLifeTest} has the table with all states, and runs each of its cells.
 *
 * <h2>Threads</h2>
 * All of it belongs to the thread of the loop that the channel is registered with, except where a method says "any
 * thread".
 */
package io.netty.channel.rdma.connection;
