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
 * Event loops: what a loop does for all connections on it. Not for applications, which use {@link
 * io.netty.channel.rdma.RdmaIoHandler} of the package above. It knows devices ({@code verbs}) and registered memory
 * ({@code memory}), and no channels: the owners of queue pairs and connection ids are known as {@link
 * io.netty.channel.rdma.loop.CompletionHandler} and {@link io.netty.channel.rdma.loop.LoopEvents.Listener}.
 * <pre>
 *   LoopHandler ── EpollIoHandler      sleeping, timers, wake-ups, TCP channels
 *      ├── NioChannels                 NIO's channels, if the loop serves them
 *      ├── SpinPolicy                  whether to poll before sleeping, and for how long
 *      ├── DescriptorSchedule          when epoll gets a turn of a loop that does not sleep
 *      ├── LoopDevice                  what the loop has of a device, and who owns which queue pair
 *      │      ├── LoopQueue            a completion queue, and how much of it is set aside
 *      │      └── LoopReceiveQueue     the receives that its message channels share
 *      └── LoopEvents                  connection manager events, and who owns which connection id
 *
 *   LoopBinding                        the loop that an object is bound to now: its tasks and timers
 *   Retry                              tries again what nothing tells of
 *   WatchedFd                          a descriptor that epoll watches
 *   EpollRegistration                  a channel of epoll's on such a loop
 * </pre>
 *
 * <h2>A turn</h2>
 * A batch of completions is taken from each completion queue that had some lately, and from one of the others: of many
 * queues few are busy. Each completion is noted by the owner of its queue pair ({@code completed}), then each owner
 * that got some does what follows ({@code completionsDone}), once. If there was nothing, the loop polls for a while if
 * {@code SpinPolicy} expects that to pay, then arms the queues that have fired since they were armed (with another
 * look, which closes the race) and sleeps in epoll, where the completion channels' descriptors wake it up. While
 * completions keep coming, epoll gets a turn every 20 microseconds, or less often if it finds nothing ({@code
 * DescriptorSchedule}).
 *
 * <h2>Failures</h2>
 * What an owner throws ends that one owner with this cause, and no other: {@code unexpected} of {@code
 * CompletionHandler}, {@code LoopEvents.Listener} and {@code LoopBinding}. A completion queue that can't be polled has
 * lost completions, so all its owners fail; so do all of a device that reports that it is broken.
 *
 * <h2>Threads</h2>
 * All of it belongs to the thread of its loop, except where a method says "any thread". Connections that change their
 * loop are the subject of the package {@code move}.
 */
package io.netty.channel.rdma.loop;
