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
 * Ping-pong: data go from one end to the other and back, one message at a time, in each way that the operations
 * allow. {@code ./run-example.sh pingpong}; each end alone: {@code pingpong-server}, {@code pingpong-client}.
 *
 * <p>A write puts bytes into the memory of somebody who does not notice, a read takes them from there. So a program of
 * one-sided operations has to answer two questions that messages answer by themselves: who moves the data, and how does
 * the other end know that there are new ones, or that the old ones may be changed?
 *
 * <table>
 * <caption>{@link io.netty.example.rdma.pingpong.PingPongMode}: round trip number n</caption>
 * <tr><th>mode</th><th>ping</th><th>pong</th><th>how it is known</th></tr>
 * <tr><td>CLIENT</td><td>the client writes n to the server's memory</td><td>the client reads it back</td>
 *     <td>By the promises of the write and of the read, which are their completions. The server's process has nothing
 *     to do and knows nothing of it, until the client says in a message that all is done.</td></tr>
 * <tr><td>SERVER</td><td>the server writes n to the client's memory</td><td>the server reads it back</td><td>As
 *     CLIENT. Who has connected to whom makes no difference to an operation.</td></tr>
 * <tr><td>UNSIGNALLED</td><td colspan="2">as CLIENT, but the write is unsignalled, and the read is posted with it</td>
 *     <td>By the promise of the read alone. A read after a write of the same channel finds what was written, and its
 *     completion stands for that of the write.</td></tr>
 * <tr><td>WRITE</td><td>the client writes n to the server's memory</td><td>the server writes n to the client's
 *     memory</td><td>By the data: each end looks at its own memory until they are there, the last 8 bytes of which are
 *     the token. That the other end has got n is known when n, or n + 1, has come from there, so nobody needs a
 *     completion, and the memory may be written to again.</td></tr>
 * <tr><td>READ</td><td>the client has n in its memory; the server reads it</td><td>the server has n in its memory; the
 *     client reads it</td><td>By messages: "n is there to be read" says at the same time that what the other had was
 *     read, and may be changed.</td></tr>
 * <tr><td>READ_ONLY</td><td colspan="2">as READ</td><td>By the data: each end reads the other's memory again and again
 *     until n is there. Nobody acknowledges a read, and nobody has to: the server has n in its memory only after it has
 *     read the client's n, so a client that reads n there knows that its own was read. Most reads find nothing
 *     new.</td></tr>
 * <tr><td>SEND</td><td>the client sends n</td><td>the server sends back what it has received</td><td>By the completion
 *     of the receive.</td></tr>
 * <tr><td>WRITE_ACK</td><td>the client writes n to the server's memory</td><td>the server writes what is there to the
 *     client's memory</td><td>By messages: "n is written" comes behind the write, and acknowledges that of the other.
 *     </td></tr>
 * <tr><td>WRITE_IMM</td><td colspan="2">as WRITE_ACK, by RDMA WRITE WITH IMMEDIATE</td><td>By the immediate data, which
 *     are n: one operation in place of two.</td></tr>
 * <tr><td>SCAN</td><td>the client writes random data to the server's memory</td><td>the server writes what has come
 *     there to the client's memory</td><td>By the data, of which the other end knows only that no byte is 0: it fills
 *     its memory with zeros, and scans it until there are none.</td></tr>
 * </table>
 * In the last four the pong is the ping: what comes back is what has arrived, so the client sees whatever goes wrong on
 * either way. When it is over, each end tells the other how many round trips it has counted, and how many were wrong
 * ({@link io.netty.example.rdma.verbs.Counts}). The result of an end that does nothing tells how long its event loop
 * had the processor.
 *
 * <h2>Looking at memory</h2>
 * {@link io.netty.example.rdma.pingpong.WritingEnd} does so. Two things are needed for that beside the custom of most
 * hardware, of which that class tells:
 * <ul>
 * <li>An acquiring read ({@link io.netty.example.rdma.pingpong.WritingEnd.MemoryToken}). The memory is changed by a
 *     device or by another process, which Java's memory model does not know; but after an acquiring read neither the
 *     compiler nor the processor uses older values than it has found.</li>
 * <li>An event loop that goes on working ({@link io.netty.example.rdma.pingpong.MemoryWatch}): its channels need it,
 *     and the embedded provider as well, where the loop that polls does what otherwise a device does.</li>
 * </ul>
 * A program that has other things to do sends RDMA WRITE WITH IMMEDIATE, or a message after the writes: that has a
 * completion at the other end, as in WRITE_IMM and WRITE_ACK.
 *
 * <h2>Data</h2>
 * Round trip n has data of its own ({@link io.netty.example.rdma.verbs.NumberedData}), but for SCAN, and every byte
 * is checked: data of another round trip, or some of them late, don't match. What is measured without that looks at 8
 * bytes.
 */
package io.netty.example.rdma.pingpong;
