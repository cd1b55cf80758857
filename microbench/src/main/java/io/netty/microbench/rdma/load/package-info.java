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
 * The work of a client while it is measured.
 *
 * <pre>
 * LoadClient   a command that connects, and has Scenarios: XLoad for the example X
 * Load         does one of them on the event loop, and tells of each Window of it
 * </pre>
 *
 * The server is the example's own, except that of echo: {@link io.netty.microbench.rdma.load.EchoLoadServer} sends
 * streams as well. That of valkey is a program of others, which {@link
 * io.netty.microbench.rdma.process.ValkeyProcess} runs.
 *
 * <p>A round trip of an echo takes a microsecond, which leaves no room for a promise each: its handlers are operations
 * themselves, and their message is made once ({@link io.netty.microbench.rdma.load.RepeatedMessage}), so that
 * what the loops allocate is what the transport does. A stream has no operations: some megabytes of it are one, and the
 * source goes on meanwhile. While no operation is under way, nothing is read.
 */
package io.netty.microbench.rdma.load;
