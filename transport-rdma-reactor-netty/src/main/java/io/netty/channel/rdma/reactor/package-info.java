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
 * Event loops for Reactor Netty, and so for Spring WebFlux and RSocket, which use it.
 *
 * <pre>
 *   RdmaLoopResources          the class that applications use
 *      │         │
 *   RdmaLoops  ChannelClasses  the life of event loops; the channel classes by type
 *      │
 *   AllocatorInheritingGroup   the event loops
 * </pre>
 * Reactor Netty makes no {@code Bootstrap}. It asks its {@link reactor.netty.resources.LoopResources} for event loops
 * and for channels by their interface, and only these can be replaced. Options, pools, handlers and meters are Reactor
 * Netty's.
 *
 * <p>Each event loop serves RDMA and epoll's channels. So servers, clients, the DNS resolver of a client and Unix
 * domain sockets share threads, as with Reactor Netty's own event loops.
 */
package io.netty.channel.rdma.reactor;
