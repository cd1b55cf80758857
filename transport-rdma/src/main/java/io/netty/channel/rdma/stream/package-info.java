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
 * The rsockets byte-stream protocol, version 1, as a state machine.
 * <p>
 * It is an implementation of {@link io.netty.channel.rdma.stream.StreamProtocol} and {@link
 * io.netty.channel.rdma.stream.StreamMachine}, by which alone a connection knows its protocol. The module {@code
 * io.netty.transport.rdma.valkey} has another one.
 * <p>
 * It is the documented protocol of librdmacm ({@code librdmacm/docs/rsocket} in rdma-core), so that unmodified programs
 * on {@code librspreload.so} and this transport understand each other. Nothing here knows a Netty channel, calls native
 * code or posts a work request: {@link io.netty.channel.rdma.stream.StreamConnection} says what to post and what
 * arrived, and its owner does it. All can therefore be tested without a device.
 *
 * <h2>On the wire</h2>
 *
 * A reliable connected queue pair. Every message is one RDMA WRITE WITH IMMEDIATE; receives are empty and are consumed
 * by the immediate alone. The private data of the connection request and reply carry
 * {@link io.netty.channel.rdma.stream.ConnectionData}, big-endian:
 * <pre>
 *  offset  size
 *       0     1   version, 1
 *       1     1   flags: bit 0 big-endian host, bit 1 iomap (never set by us)
 *       2     2   credits: receives posted for data
 *       4     1   extensions: bit 0 retraction, see below; librdmacm reserves it, writes 0 and does not read it
 *       5     2   reserved, 0
 *       7     1   iomap slots, 0
 *       8    16   target SGL: address 8, rkey 4, number of entries 4
 *      24    16   first receive buffer: address 8, rkey 4, length in bytes 4
 * </pre>
 * The immediate is a 3-bit type and a 29-bit value ({@link io.netty.channel.rdma.stream.Immediate}):
 * <table>
 * <caption>Messages</caption>
 * <tr><th>type</th><th>value</th><th>written with it</th><th>meaning</th></tr>
 * <tr><td>0 DATA</td><td>bytes, at least 1</td><td>the bytes, into the current buffer</td><td>they follow those before
 *     it</td></tr>
 * <tr><td>4 CREDIT</td><td>16-bit sequence number</td><td>nothing, or one target SGL entry</td><td>data messages up to
 *     that number, not included, may be sent; the entry is the next buffer</td></tr>
 * <tr><td>6 IOMAP</td><td>index</td><td>an iomap entry</td><td>not offered, refused</td></tr>
 * <tr><td>7 CONTROL</td><td>0 DISCONNECT, 1 keep-alive, 2 SHUTDOWN</td><td>nothing</td><td>the end of the connection; a
 *     sign of life; the end of the sender's output</td></tr>
 * <tr><td>7 CONTROL</td><td>0x100 RETRACT, 0x101 RETRACTED</td><td>nothing</td><td>not of librdmacm, see
 *     below</td></tr>
 * </table>
 * A target SGL entry is address 8, rkey 4, length 4 in the byte order of the host whose memory it is in: the writer
 * converts. Entries are written in turn; the peer's entry 0 stands for the buffer of the connection data, so the first
 * one written is 1. A buffer is filled to its last byte before the next one is used, and an entry may be overwritten
 * when the buffer it describes is filled. A keep-alive is sent as an empty RDMA WRITE without immediate, as librdmacm
 * does too: the peer's device answers it, its process notices nothing.
 *
 * <h2>iWARP</h2>
 *
 * It has no immediate data (RFC 5040). As with librdmacm, a message there is an RDMA WRITE of its bytes, if it has
 * some, and behind it a SEND of the immediate: 4 bytes in the sender's byte order, which its connection data tell. A
 * SEND that finds no receive ends the connection, so there are more receives for control messages: as many as the peer
 * can send before it must hear of us. Nothing tells how many bytes were written. A peer that claims more than it wrote
 * has the reader get what was in the buffer, which is zero at first and later its own.
 *
 * <h2>Flow control and deadlock</h2>
 *
 * A data message needs three things: room in a buffer of the peer, a credit (a posted receive of the peer, counted by
 * absolute 16-bit numbers) and a slot of our send queue. Control messages need only the slot, of which some are
 * reserved for them, and wait in the network for a receive (RNR, retried for ever). So the message that makes data move
 * can be posted whatever data waits for, and nothing that is posted waits for the application: a side that keeps
 * polling its completions and posting its receives lets the other side's queue drain, whether it reads or not.
 * <p>
 * Credits are returned when half of them are used, buffers as soon as the application gave them back and the peer's
 * table has a place. librdmacm offers halves of one buffer through two entries; here the number of segments is free,
 * and the peer's number of entries limits how many are offered at a time. The connection data offers one; others are
 * offered when the peer has filled a quarter of it, so that a connection on which little moves costs neither side a
 * message.
 *
 * <h2>Retraction</h2>
 *
 * What was advertised can't be taken back: the peer may be writing to it. So memory that was grown for a stream could
 * not be freed when the stream stops, which is when it should. A peer that has set the bit in its connection data can
 * be asked: RETRACT means, give back all that you were offered and have not filled. It stops using it, and answers
 * RETRACTED behind all that it wrote before. Between the two the asking side advertises nothing, so both agree on which
 * entries are void: all that were written and not used. The next one goes into the entry behind them. The two
 * directions have nothing to do with each other. A peer that does not answer harms itself only: it gets no more
 * buffers. To a peer without the bit nothing is said; what it was offered comes back as it is filled.
 *
 * <h2>State</h2>
 *
 * <table>
 * <caption>{@link io.netty.channel.rdma.stream.StreamState}</caption>
 * <tr><th>from</th><th>we end output</th><th>peer's SHUTDOWN</th><th>we end the connection</th><th>peer's
 *     DISCONNECT</th></tr>
 * <tr><td>OPEN</td><td>OUTPUT_SHUT, send SHUTDOWN</td><td>INPUT_SHUT</td><td>CLOSING, then DISCONNECTED: send
 *     DISCONNECT</td><td>DISCONNECTED</td></tr>
 * <tr><td>OUTPUT_SHUT</td><td>-</td><td>DISCONNECTED</td><td>as above</td><td>DISCONNECTED</td></tr>
 * <tr><td>INPUT_SHUT</td><td>CLOSING, then DISCONNECTED: send DISCONNECT</td><td>-</td><td>as above</td>
 *     <td>DISCONNECTED</td></tr>
 * </table>
 * The queue pair keeps the order, so an end needs no sequence number: all bytes that were written before it have
 * arrived when it arrives. Bytes that arrived stay readable after any of these.
 *
 * <h2>What is checked</h2>
 *
 * librdmacm trusts its peer; we do not. Version, lengths, table sizes, credits (never back, never beyond the peer's
 * queue), data messages (a credit, no more bytes than the current buffer has left, as many as were written, none after
 * the end of the output), types and control codes are checked before use. A violation is a
 * {@link io.netty.channel.rdma.stream.StreamProtocolException} and ends that connection only. We write nowhere but into
 * buffers that the peer advertised, with the key that it gave for them.
 */
package io.netty.channel.rdma.stream;
