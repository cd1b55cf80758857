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
 * Event loops: the work that a loop does for all its connections. Not for applications, which use {@link
 * io.netty.channel.rdma.RdmaIoHandler} of the package above. The package knows devices ({@code verbs}) and registered
 * memory ({@code memory}), but no channels. It knows the owners of queue pairs and connection ids by the types {@link
 * io.netty.channel.rdma.loop.CompletionHandler} and {@link io.netty.channel.rdma.loop.LoopEvents.Listener}.
 * <pre>
 *   LoopHandler ── EpollIoHandler      sleeping, timers, wake-ups, TCP channels
 *      ├── NioChannels                 NIO's channels, if the loop serves them
 *      ├── SpinPolicy                  whether to poll before sleeping, and for how long
 *      ├── DescriptorSchedule          when a loop that does not sleep runs epoll
 *      ├── LoopDevice                  the part of a device that the loop has, and the owners of its queue pairs
 *      │      ├── LoopQueue            a completion queue, and its reserved room
 *      │      └── LoopReceiveQueue     a shared receive queue of message channels
 *      └── LoopEvents                  connection manager events, and the owners of connection ids
 *
 *   LoopBinding                        the loop that an object is bound to now, and the tasks and timers of the object
 *   Retry                              repeats a failed operation after a delay
 *   WatchedFd                          a descriptor that epoll watches
 *   EpollRegistration                  an epoll channel on such a loop
 * </pre>
 *
 * <h2>A turn</h2>
 * A turn polls each completion queue that had completions lately, and one of the others, because few of many queues are
 * busy. Each poll takes one batch. The owner of the queue pair notes each completion ({@code completed}). Then each
 * owner that got completions acts on all of them at once ({@code completionsDone}). If there were none, the loop polls
 * for a while if {@code SpinPolicy} expects that to pay. Then it arms the queues that have fired since they were armed,
 * and polls them again, which closes the race between the last poll and arming. Then it sleeps in epoll, where the
 * descriptors of the completion channels wake it up. While completions keep coming, epoll gets a turn every 20
 * microseconds, or less often if it finds nothing ({@code DescriptorSchedule}).
 *
 * <h2>Failures</h2>
 * An exception of an owner ends only this owner, with the exception as the cause: {@code unexpected} of {@code
 * CompletionHandler}, {@code LoopEvents.Listener} and {@code LoopBinding}. A completion queue that can't be polled has
 * lost completions. Then all owners of the loop's part of the device fail. If a device reports that it is broken, its
 * owners fail.
 *
 * <h2>Threads</h2>
 * All objects belong to the thread of their loop, except where a method says "any thread". The package {@code move}
 * moves connections to other loops.
 */
package io.netty.channel.rdma.loop;
