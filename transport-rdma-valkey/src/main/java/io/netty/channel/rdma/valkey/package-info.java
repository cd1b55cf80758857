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
 * Byte streams to servers of Valkey over RDMA: {@link io.netty.channel.rdma.valkey.RdmaValkeySocketChannel}, and {@link
 * io.netty.channel.rdma.valkey.RdmaValkeyServerSocketChannel}, which stands in for a server.
 *
 * <h2>Where the seam is</h2>
 * <pre>
 *   RdmaValkeySocketChannel ───── AbstractRdmaSocketChannel ── RdmaConnection, SendPath, ReceiveMemory, ...
 *            │                         (transport-rdma)                         │
 *   ValkeyProtocol ───────────── StreamProtocol: what a protocol needs          │
 *            │                                                                  │
 *   ValkeyStream ─────────────── StreamMachine: one connection, without I/O ────┘
 *            │
 *   ValkeyMessage: the 32 bytes of a control message
 * </pre>
 * The channel, the connection, its memory and its end are those of {@code RdmaSocketChannel}. They know the protocol by
 * two interfaces alone, of the package {@code stream}, which the module {@code io.netty.transport.rdma} exports to this
 * one. So the protocol is all that is here, and what handlers see (writability, reading, closing, errors) can't differ.
 * A channel on top of {@code RdmaMessageChannel} would need a queue of its own for what is flushed, read loops, and the
 * end of a connection once more, and each event would pass two pipelines.
 *
 * <h2>On the wire</h2>
 * The protocol is that of {@code topics/RDMA.md} in valkey-doc, as {@code src/rdma.c} of Valkey 8.0 and later has it. A
 * reliable connected queue pair, made by the connection manager without private data. Bytes go by RDMA WRITE WITH
 * IMMEDIATE into memory that the receiver has registered and announced, one behind the other; the immediate data is
 * their number. It may count bytes that were written without immediate data before it. All else are messages of 32
 * bytes, sent by SEND, big-endian:
 * <pre>
 *  offset  size
 *       0     2   number of the message
 *       2     2   selector of features (0 and 1)
 *      16     8   address (3)
 *      24     8   features, a bit for each (0 and 1)
 *      24     4   length in bytes (3)
 *      28     4   key (3)
 * </pre>
 * <table>
 * <caption>Messages</caption>
 * <tr><th>number</th><th>meaning</th><th>what is done here</th></tr>
 * <tr><td>0 GetServerFeature</td><td>a client asks what the server offers; the server answers with the same
 *     number</td><td>asked at first, and then as a question whether messages were taken: see below. Nothing is
 *     offered</td></tr>
 * <tr><td>1 SetClientFeature</td><td>a client enables some of that</td><td>none are, once the first answer is
 *     there</td></tr>
 * <tr><td>2 Keepalive</td><td>a sign of life, without an answer. A server of Valkey sends one every three
 *     seconds</td><td>sent with {@code SO_KEEPALIVE}</td></tr>
 * <tr><td>3 RegisterXferMemory</td><td>the memory to which the receiver of the message writes from now
 *     on</td><td>announced when the connection is established, and again when the last one is full</td></tr>
 * </table>
 * A version is not told. Other numbers are unknown, and end the connection.
 *
 * <h2>Receive memory</h2>
 * An announcement replaces the one before it, so only one region is offered at a time, and the next one not before that
 * is filled to its last byte. The memory has two halves: one is announced as soon as the other one is full, whether
 * that is read or not. If the application keeps both, the peer has to wait. Their length never changes, because Valkey
 * frees the memory that it sends from whenever another length is announced, though its device may still have to repeat
 * what it has sent.
 *
 * <h2>Messages that find no receive</h2>
 * The protocol limits bytes, but not messages. Each uses one of the receives that its receiver has posted, and a
 * message that finds none is repeated only if the receiver has asked for that (rnr_retry_count of rdma_accept(3)).
 * Clients of Valkey ask for it, and so do both ends here. Valkey's server does not: what it does not take from its 1024
 * receives in time ends the connection. So a client counts. It asks for the features again after 128 messages: the
 * answer shows that the server has taken all before the question. So does the next announcement. With 512 messages that
 * are not known to be taken, the client waits, and what is flushed meanwhile goes into one message later. A server
 * can't ask: clients end the connection when they are sent what only they may send.
 *
 * <h2>The end</h2>
 * There is no message for it. Closing waits until all that was flushed has arrived, for which an empty WRITE is sent if
 * the last request did not ask for a completion, and disconnects by the connection manager. That is the end of the
 * input for the peer, as with TCP; a reset ({@code SO_LINGER} 0) or the end of the process can't be told from it,
 * unless bytes were under way, which then fail. Valkey drops commands that it has not read when a client disconnects:
 * an application should wait for the answers first. There is no half close.
 *
 * <h2>What is checked</h2>
 * Everything that a peer sends: bytes announced (no more than are left of the memory, no fewer than were written with
 * them), the number and the length of each message, memory (not empty, not beyond the address space, not registered
 * before the last one is full), features (asked for, selector 0; none enabled), and how many questions wait for an
 * answer. A message is copied before it is looked at, since the peer can write to where it has arrived. A violation is
 * a {@code StreamProtocolException} that ends that connection only. Bytes that a peer announces and has not written are
 * what was there: zero, or what it has sent before. A peer that registers no memory, or does not answer, is waited for,
 * as one of TCP with a full window: {@code USER_TIMEOUT_MILLIS} limits that.
 *
 * <h2>Threads</h2>
 * As in the package {@code io.netty.channel.rdma}.
 */
package io.netty.channel.rdma.valkey;
