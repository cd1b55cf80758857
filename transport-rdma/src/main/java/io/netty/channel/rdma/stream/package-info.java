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
 * A connection knows its protocol only by the interfaces {@link io.netty.channel.rdma.stream.StreamProtocol} and {@link
 * io.netty.channel.rdma.stream.StreamMachine}. The module {@code io.netty.transport.rdma.valkey} has another protocol.
 * <p>
 * The protocol is documented in librdmacm ({@code librdmacm/docs/rsocket} in rdma-core). Unmodified programs on {@code
 * librspreload.so} and this transport understand each other. No class of this package knows a Netty channel, calls
 * native code or posts a work request. {@link io.netty.channel.rdma.stream.StreamConnection} tells its owner which work
 * requests to post and which bytes arrived, and the owner does the I/O. So tests need no device.
 *
 * <h2>On the wire</h2>
 *
 * The queue pair is a reliable connection (RC). Every message is one RDMA WRITE WITH IMMEDIATE. Receives have no
 * buffer; the immediate consumes them. The private data of the connection request and of the reply is {@link
 * io.netty.channel.rdma.stream.ConnectionData}, big-endian:
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
 * <tr><td>0 DATA</td><td>bytes, at least 1</td><td>the bytes, into the current buffer</td><td>the next bytes of the
 *     stream</td></tr>
 * <tr><td>4 CREDIT</td><td>16-bit sequence number</td><td>nothing, or one target SGL entry</td><td>data messages up to
 *     that number, not included, may be sent; the entry is the next buffer</td></tr>
 * <tr><td>6 IOMAP</td><td>index</td><td>an iomap entry</td><td>not offered, refused</td></tr>
 * <tr><td>7 CONTROL</td><td>0 DISCONNECT, 1 keep-alive, 2 SHUTDOWN</td><td>nothing</td><td>the end of the connection; a
 *     sign of life; the end of the sender's output</td></tr>
 * <tr><td>7 CONTROL</td><td>0x100 RETRACT, 0x101 RETRACTED</td><td>nothing</td><td>not of librdmacm, see
 *     below</td></tr>
 * </table>
 * A target SGL entry is address 8, rkey 4, length 4, in the byte order of the host whose memory it is in. The writer
 * converts. Entries are written in turn. Entry 0 stands for the buffer in the connection data, so the first entry that
 * is written is entry 1. The sender fills a buffer to its last byte before it uses the next one. The receiver may
 * overwrite an entry when the buffer that it describes is filled. A keep-alive is sent as an empty RDMA WRITE without
 * immediate, as in librdmacm: the peer's device acknowledges it unnoticed by the peer's process.
 *
 * <h2>iWARP</h2>
 *
 * iWARP has no immediate data (RFC 5040). As in librdmacm, a message there is an RDMA WRITE of its bytes, if it has
 * any, followed by a SEND of the immediate: 4 bytes in the sender's byte order, which is a flag of its connection data.
 * A SEND that finds no receive ends the connection. So there are more receives for control messages: as many as the
 * peer can send before it needs a message from this side. The receiver can't tell how many bytes were written. If a
 * peer announces more bytes than it wrote, the reader gets the old contents: zeros, or earlier bytes of this peer.
 *
 * <h2>Flow control and deadlock</h2>
 *
 * A data message needs three things: room in a buffer of the peer, a credit (a posted receive of the peer, counted by
 * absolute 16-bit numbers) and a slot of the own send queue. A control message needs only the slot, and some slots are
 * reserved for control messages. If the peer has no receive posted, the device retries the control message without
 * limit (RNR). So the control message that lets data move can always be posted, and no posted message waits for the
 * application. A side that keeps polling its completions and posting its receives lets the other side's send queue
 * drain, even if its application does not read.
 * <p>
 * Credits are returned when half of them are used. A buffer is offered again as soon as the application has released it
 * and the peer's table has a place. librdmacm offers the halves of one buffer by two entries. Here the number of
 * segments is free, and the size of the peer's table limits how many are offered at a time. The connection data offers
 * the first segment. Others are offered when the peer has filled a quarter of it, so little traffic costs no messages
 * for them.
 *
 * <h2>Retraction</h2>
 *
 * A side can't take advertised memory back, because the peer may be writing to it. Without retraction, memory that grew
 * for a stream could not be freed when the stream stops. A peer that has set bit 0 of the extensions in its connection
 * data can be asked. RETRACT asks it to give back all buffers that it was offered and has not filled. The peer stops
 * using them, and sends RETRACTED behind all that it wrote before. The asking side advertises nothing between RETRACT
 * and RETRACTED. So both sides agree on the void entries: all that were written and not used. The next entry that is
 * written is the one behind them. The two directions are independent. A peer that does not answer harms only itself,
 * because it gets no more buffers. A peer without the bit is not asked; it returns buffers by filling them.
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
 * The queue pair keeps the order. When SHUTDOWN or DISCONNECT arrives, all bytes that were written before it have
 * arrived, so these messages need no sequence number. Bytes that arrived stay readable in every state.
 *
 * <h2>What is checked</h2>
 *
 * librdmacm trusts its peer; this transport does not. It checks these before use: version, lengths, table sizes, types
 * and control codes; credits (never fewer than before, never beyond the peer's queue); data messages (a credit, no more
 * bytes than the current buffer has left, as many as were written, none after the end of the output). A violation is a
 * {@link io.netty.channel.rdma.stream.StreamProtocolException}, and ends only that connection. This side writes only
 * into buffers that the peer advertised, with the key that it gave for them.
 */
package io.netty.channel.rdma.stream;
