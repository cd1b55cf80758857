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
 * The measuring clients: programs that do operations of an example while they are measured.
 *
 * <pre>
 * LoadClient   a command that connects, and has Scenarios: XLoad for the example X
 * Load         does the operations of one Scenario on the event loop, and reports each Window of time
 * </pre>
 *
 * The server is the example's own, with two exceptions. For echo it is {@link
 * io.netty.microbench.rdma.load.EchoLoadServer}, which sends streams as well. For valkey it is Valkey's own server,
 * which {@link io.netty.microbench.rdma.process.ValkeyProcess} runs.
 *
 * <p>A round trip of an echo takes a microsecond, which leaves no time for a promise. So its handlers are operations
 * themselves, and make their message only once ({@link io.netty.microbench.rdma.load.RepeatedMessage}). Then the event
 * loops allocate only what the transport does. A stream has no operations, so some megabytes of it count as one, and
 * the source goes on meanwhile. While no operation is in flight, nothing is read.
 */
package io.netty.microbench.rdma.load;
