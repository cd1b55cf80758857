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
 * A client that connects again. A channel that has ended never connects again, which is Netty's rule for all channels,
 * so the client makes another one. {@link io.netty.example.rdma.reconnect.ReconnectingClient} is for copying:
 * <ul>
 * <li>a new channel of the same {@code Bootstrap}, so with the same options;</li>
 * <li>what was exported is exported again: the memory stays registered, but its key belongs to the device of a
 *     connection, and the peer knows nothing of what the connection before had;</li>
 * <li>waits that double up to a bound, each with a random part, so that many clients don't come back in the same
 *     moment; and from the beginning again once the server has served, not when it has merely accepted.</li>
 * </ul>
 * Messages that were on their way when a connection ended may or may not have taken effect: here numbers tell which
 * are new. {@code ticker-server} writes numbers into the memory of each client, and ends connections ({@code
 * --ticks}); {@code ticker-client} is one that is connected all the time.
 */
package io.netty.example.rdma.reconnect;
