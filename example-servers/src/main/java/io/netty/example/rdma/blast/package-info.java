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
 * Blast: writes, or reads, as fast as they go. {@code ./run-example.sh blast}; each end alone: {@code blast-server},
 * {@code blast-client}.
 *
 * <p>What makes it fast:
 * <ul>
 * <li>Chains: operations that are written and flushed together become a chain of work requests, posted with one call,
 *     and one doorbell of the device. A channel posts at most 64 at a time; longer chains, of which two fill the
 *     send queue ({@code --chain}), only have fewer promises.</li>
 * <li>Few completions: only the last operation of a chain asks for one, which stands for all before. So only that one
 *     needs a promise of its own; the others have the void promise, and Netty's outbound buffer recycles the rest.</li>
 * <li>Two chains under way: while the event loop handles the end of one, the device works at the other.</li>
 * <li>Registered memory: data are taken from where they are.</li>
 * </ul>
 *
 * <p>The data ({@link io.netty.example.rdma.verbs.NumberedData}) are checked where they arrive. For writes that is the
 * server, which does not notice them: a message after each chain tells it. The message can't overtake the writes, so
 * all are there; and its answer tells the client that their places may be written to again. For reads it is the client
 * itself, when the promise of the last read is done. Without the check, all operations go from one place to one place,
 * whatever it has in the end is checked, and the server has nothing to do: as perftest's programs do it. Its result
 * tells how long its event loop had the processor.
 *
 * <p>With {@code --by-server} the two change places: who has connected to whom makes no difference. In the end each
 * tells the other what it has counted ({@link io.netty.example.rdma.verbs.Counts}).
 */
package io.netty.example.rdma.blast;
