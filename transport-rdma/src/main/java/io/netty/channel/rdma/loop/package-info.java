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
 * ({@code memory}), and no channels: those who own queue pairs and connection ids are known by the interfaces {@link
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
 *   CurrentLoop                        the loop that something belongs to now: its tasks and timers
 *   Retry                              tries again what nothing tells of
 *   LoopId, IdMove                     a connection id that may change its loop
 *   CompletionRelay                    completions that follow a connection to another loop
 *   WatchedFd                          a descriptor that epoll watches
 *   EpollRegistration                  a channel of epoll's on such a loop
 * </pre>
 *
 * <h2>A turn</h2>
 * A batch of completions is taken from each completion queue that had some lately, and from one of the others: of many
 * queues few are busy. Each completion is noted by the owner of its queue pair ({@code completed}), then each owner
 * that got some does what follows ({@code completionsDone}), once. If there was nothing, the loop polls for a while if
 * {@code SpinPolicy} expects that to pay, then arms the queues that may have fired since they were armed (with another
 * look, which closes the race) and sleeps in epoll, where the completion channels' descriptors wake it up. While
 * completions keep coming, epoll gets a turn every 20 microseconds, or less often if it finds nothing ({@code
 * DescriptorSchedule}).
 *
 * <h2>Failures</h2>
 * What an owner throws ends that one owner with this cause, and no other: {@code unexpected} of {@code
 * CompletionHandler}, {@code LoopEvents.Listener} and {@code CurrentLoop}. A completion queue that can't be polled has
 * lost completions, so all its owners fail; so do all of a device that reports that it is broken.
 *
 * <h2>Moving to another loop</h2>
 * A connection id migrates to the event channel of its new loop ({@code IdMove}). A queue pair can't be given another
 * completion queue, so the loop on which the connection was made goes on polling, and hands completions to the loop of
 * the owner, in order ({@code CompletionRelay}, {@code MovableCompletionHandler}): that costs a wake-up, but no work
 * of the owner is done anywhere but on its loop ({@code CurrentLoop}). As long as it does so it is not suspended. When
 * it ends, the loop of one of these owners takes its completion queues over, or, if these loops have ended as well,
 * whoever gives back the last of it closes them. Nothing else in this package has to do with moving.
 *
 * <h2>Threads</h2>
 * All of it belongs to the thread of its loop, except where a method says "any thread".
 */
package io.netty.channel.rdma.loop;
