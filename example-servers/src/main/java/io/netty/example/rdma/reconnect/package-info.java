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
 * A client that connects again. A Netty channel that has ended never connects again, so the client makes another one.
 * {@link io.netty.example.rdma.reconnect.ReconnectingClient} is for copying:
 * <ul>
 * <li>It makes a new channel of the same {@code Bootstrap}, so with the same options.</li>
 * <li>It exports its memory again. The memory stays registered, but its key belongs to the device of a connection, and
 *     the peer does not know the exports of the connection before.</li>
 * <li>It waits between attempts. Each wait is twice the one before, up to a bound, and partly random, so that many
 *     clients don't come back at the same moment. The waits start from the shortest one again when the server has
 *     served, not when it has merely accepted.</li>
 * </ul>
 * Messages that were in flight when a connection ended may or may not have taken effect. Here numbers tell which are
 * new. {@code ticker-server} writes numbers into the memory of each client, and ends connections ({@code --ticks}).
 * {@code ticker-client} stays connected to it.
 */
package io.netty.example.rdma.reconnect;
