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
 * Ping-pong: data go from one end to the other and back, one message at a time, in each of the ways that the operations
 * allow. {@code ./run-example.sh pingpong} runs both ends; {@code pingpong-server} and {@code pingpong-client} are one
 * end each.
 *
 * <p>A write puts bytes into the memory of a peer that does not notice it, and a read takes them from there. Messages
 * answer two questions by themselves that a program of one-sided operations has to answer. Which end moves the data?
 * How does the other end know that new data have arrived, or that it may change the old ones?
 *
 * <table>
 * <caption>{@link io.netty.example.rdma.pingpong.PingPongMode}: round trip number n</caption>
 * <tr><th>mode</th><th>ping</th><th>pong</th><th>how the ends know</th></tr>
 * <tr><td>CLIENT</td><td>the client writes n to the server's memory</td><td>the client reads it back</td>
 *     <td>By the promises of the write and of the read, which are their completions. The server's process has nothing
 *     to do, and does not notice it, until the client's last message.</td></tr>
 * <tr><td>SERVER</td><td>the server writes n to the client's memory</td><td>the server reads it back</td><td>As
 *     CLIENT. Operations do not depend on which end has connected.</td></tr>
 * <tr><td>UNSIGNALLED</td><td colspan="2">as CLIENT, but the write is unsignalled, and the read is posted with it</td>
 *     <td>By the promise of the read alone. A read after a write of the same channel finds the written data, and its
 *     completion stands for that of the write.</td></tr>
 * <tr><td>WRITE</td><td>the client writes n to the server's memory</td><td>the server writes n to the client's
 *     memory</td><td>By the data: each end looks at its own memory until they are there. Their last 8 bytes are the
 *     token. When n, or n + 1, has come back, the other end has got n, and its memory may be written to again. So
 *     no end needs a completion.</td></tr>
 * <tr><td>READ</td><td>the client has n in its memory; the server reads it</td><td>the server has n in its memory; the
 *     client reads it</td><td>By messages: "n can be read" also says that the data of the other end were read, and may
 *     be changed.</td></tr>
 * <tr><td>READ_ONLY</td><td colspan="2">as READ</td><td>By the data: each end reads the other's memory again and again
 *     until n is there. No end acknowledges a read. The server has n in its memory only after it has read the client's
 *     n, so a client that reads n there knows that its own was read. Most reads find nothing new.</td></tr>
 * <tr><td>SEND</td><td>the client sends n</td><td>the server sends back what it has received</td><td>By the completion
 *     of the receive.</td></tr>
 * <tr><td>WRITE_ACK</td><td>the client writes n to the server's memory</td><td>the server writes the received data to
 *     the client's memory</td><td>By messages: "n is written" follows the write, and acknowledges the write of the
 *     other end.</td></tr>
 * <tr><td>WRITE_IMM</td><td colspan="2">as WRITE_ACK, by RDMA WRITE WITH IMMEDIATE</td><td>By the immediate data, which
 *     are n: one operation in place of two.</td></tr>
 * <tr><td>SCAN</td><td>the client writes random data to the server's memory</td><td>the server writes the received data
 *     to the client's memory</td><td>By the data, of which the other end knows only that no byte is 0. It fills its
 *     memory with zeros, and scans it until there are none.</td></tr>
 * </table>
 * In the last four modes the server sends back the very data that have arrived. So the client sees errors of both
 * directions. In the end each end tells the other one how many round trips it has counted, and how many were wrong
 * ({@link io.netty.example.rdma.verbs.Counts}). The result of an end that does nothing tells how much processor time
 * its event loop had.
 *
 * <h2>Looking at memory</h2>
 * {@link io.netty.example.rdma.pingpong.WritingEnd} looks at memory. It relies on a property of most hardware, which
 * its comment describes, and needs two things more:
 * <ul>
 * <li>An acquiring read ({@link io.netty.example.rdma.pingpong.WritingEnd.MemoryToken}). A device or another process
 *     changes the memory, which Java's memory model does not know. After an acquiring read, neither the compiler nor
 *     the processor uses values that are older than the one that was read.</li>
 * <li>An event loop that goes on working ({@link io.netty.example.rdma.pingpong.MemoryWatch}). Its channels need it,
 *     and so does the embedded provider: there the loop that polls does the work of a device.</li>
 * </ul>
 * A program that has other things to do sends RDMA WRITE WITH IMMEDIATE, or a message after the writes. Both have a
 * completion at the other end, as in WRITE_IMM and WRITE_ACK.
 *
 * <h2>Data</h2>
 * Each round trip has data of its own ({@link io.netty.example.rdma.verbs.NumberedData}), except in SCAN, and every
 * byte is checked. Data of another round trip do not match, and neither do late bytes. With {@code --no-check} only 8
 * bytes are looked at.
 */
package io.netty.example.rdma.pingpong;
