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
 * Counters, lists and recordings of what happens: the lowest layer, which knows none of the others. Not for
 * applications, which use the classes of the package above whose names end in {@code Metrics}.
 * <pre>
 *   LoopCounters       of a channel, of a loop, of what a loop has of a device: written by that loop alone
 *   DeviceCounters     of a device: the sum of those of the loops, and what is seldom
 *   ConnectionRecord   a connection that is established, with the way to its figures
 *   LoopRecord         an event loop, for those
 *   ConnectCounters    what became of connects, and of the requests of peers, and why
 *   TcpDestination     where clients for RDMA and TCP have connections over TCP, and why
 *   Registry           the devices, loops and connections that there are, and who is told of changes
 *   Recorder, Events   events of the JDK's Flight Recorder
 *   ManagementThread   on which MBeans are registered, when the program has started
 * </pre>
 *
 * <h2>What counting costs</h2>
 * A plain read, an addition and an ordered write for a message or a poll: no locked instruction, no object, no line of
 * memory that two processors write. The sums are made by whoever reads them, over all that are open, under a lock that
 * only they, connects and closes take. What happens a few times in the life of a connection is counted by {@link
 * java.util.concurrent.atomic.LongAdder}s, as {@code connects} of a device.
 */
package io.netty.channel.rdma.monitor;
