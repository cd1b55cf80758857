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
 * Blast: one end writes to the memory of the other end, or reads it, as fast as the operations go. {@code
 * ./run-example.sh blast} runs both ends; {@code blast-server} and {@code blast-client} are one end each.
 *
 * <p>Four things make it fast:
 * <ul>
 * <li>Chains: operations that are written and flushed together become a chain of work requests. The chain is posted
 *     with one call, and one doorbell of the device. A channel posts at most 64 requests at a time. A longer chain
 *     ({@code --chain}) only saves promises. The send queue has room for two chains.</li>
 * <li>Few completions: only the last operation of a chain asks for a completion, which stands for all before it. Only
 *     this operation needs a promise of its own. The others have the void promise, and Netty's outbound buffer recycles
 *     their entries.</li>
 * <li>Two chains in flight: while the event loop handles the end of one chain, the device works at the other.</li>
 * <li>Registered memory: the device takes the data from where they are.</li>
 * </ul>
 *
 * <p>The data ({@link io.netty.example.rdma.verbs.NumberedData}) are checked where they arrive. The server does not
 * notice writes, so the client sends a message after each chain of them. The message can't overtake the writes, so the
 * server finds all of them. The server's answer tells the client that it may write to these places again. Reads are
 * checked by the client, when the promise of the last read is done. With {@code --no-check} all operations go from one
 * place to one place, as in perftest's programs. Then only the last contents are checked, and the server has nothing to
 * do. The server's result tells how much processor time its event loop had.
 *
 * <p>With {@code --by-server} the server does the operations on the client's memory. Operations do not depend on which
 * end has connected. In the end each end tells the other one its {@link io.netty.example.rdma.verbs.Counts}.
 */
package io.netty.example.rdma.blast;
