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
 * <h2>Which code is here</h2>
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
 * two interfaces of the package {@code stream} alone, which the module {@code io.netty.transport.rdma} exports to this
 * module. So this module has only the protocol, and handlers see the same writability, reading, closing and errors. A
 * channel on top of {@code RdmaMessageChannel} would need its own queue of flushed messages, read loops, and end of a
 * connection, and each event would pass two pipelines.
 *
 * <h2>On the wire</h2>
 * The protocol is that of {@code topics/RDMA.md} in valkey-doc, as {@code src/rdma.c} of Valkey 8.0 and later has it.
 * The connection manager makes a reliable connected queue pair, without private data. Bytes go by RDMA WRITE WITH
 * IMMEDIATE into memory that the receiver has registered and announced, one behind the other. The immediate data is
 * their number, which may include bytes that were written before without immediate data. Everything else is a message
 * of 32 bytes, sent by SEND, big-endian:
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
 * <tr><th>number</th><th>meaning</th><th>here</th></tr>
 * <tr><td>0 GetServerFeature</td><td>a client asks what the server offers; the server answers with the same
 *     number</td><td>a client asks at first, and later to learn whether the server has taken its messages: see below. A
 *     server offers nothing</td></tr>
 * <tr><td>1 SetClientFeature</td><td>a client enables some of the features</td><td>a client enables none, after the
 *     first answer</td></tr>
 * <tr><td>2 Keepalive</td><td>a sign of life, without an answer. A server of Valkey sends one every three
 *     seconds</td><td>sent with {@code SO_KEEPALIVE}</td></tr>
 * <tr><td>3 RegisterXferMemory</td><td>the memory to which the receiver of the message writes from now on</td><td>sent
 *     when the connection is established, and again when the last memory is full</td></tr>
 * </table>
 * The protocol has no version number. A message with another number ends the connection.
 *
 * <h2>Receive memory</h2>
 * An announcement replaces the one before it. So only one region is offered at a time, and the next one after its last
 * byte is filled. The memory has two halves. One is announced as soon as the other one is full, even if that is not
 * read yet. If the application keeps both, the peer waits. Their length never changes, because Valkey frees the memory
 * that it sends from when another length is announced. Its device may then still have to repeat bytes from there.
 *
 * <h2>Messages that find no receive</h2>
 * The protocol limits bytes, but not messages. Each message uses one of the receives that its receiver has posted. A
 * message that finds no receive is repeated only if the receiver has asked for that (rnr_retry_count of
 * rdma_accept(3)). Clients of Valkey ask for it, and so do both ends here. Valkey's server does not, so a message that
 * finds none of its 1024 receives ends the connection. So a client here counts messages. After 128 messages it asks for
 * the features again; the answer shows that the server has taken all messages before the question. The next
 * announcement shows the same. When 512 messages are not known to be taken, the client waits, and bytes that are
 * flushed meanwhile go into one message later. A server can't ask, because clients end the connection when they get a
 * message that only clients may send.
 *
 * <h2>The end</h2>
 * The protocol has no message for the end. A close waits until all flushed bytes have arrived. If the last request did
 * not ask for a completion, an empty WRITE does. Then the connection manager disconnects, and the peer sees the end of
 * its input, as with TCP. A reset ({@code SO_LINGER} 0) and the end of the process look the same, unless bytes were
 * under way, which then fail. When a client disconnects, Valkey drops commands that it has not read, so an application
 * should wait for the answers first. There is no half close.
 *
 * <h2>What is checked</h2>
 * This end checks everything that a peer sends: the number of announced bytes (at most the rest of the memory, at least
 * the bytes that were written with it), the number and the length of each message, memory (not empty, not beyond the
 * address space, not registered before the last one is full), features (asked for, selector 0; none enabled), and how
 * many questions wait for an answer. It copies a message before it checks it, because the peer can write to the receive
 * memory. A violation is a {@code StreamProtocolException} that ends that connection only. If a peer announces bytes
 * that it has not written, the application reads zeros, or bytes that the peer has sent before. A peer that registers
 * no memory, or does not answer, keeps this end waiting, as a full window does in TCP; {@code USER_TIMEOUT_MILLIS}
 * limits it.
 *
 * <h2>Threads</h2>
 * As in the package {@code io.netty.channel.rdma}.
 */
package io.netty.channel.rdma.valkey;
