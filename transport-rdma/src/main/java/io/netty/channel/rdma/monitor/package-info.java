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
 * Counters, lists and recordings of events. The lowest layer: it knows no other package. Not for applications, which
 * use the public classes whose names end in {@code Metrics}.
 * <pre>
 *   LoopCounters       counters of a channel, a loop, or a loop's part of a device; only this loop writes them
 *   DeviceCounters     counters of a device: the sum of its loops, and rare events
 *   ConnectionRecord   an established connection, with access to its figures
 *   LoopRecord         an event loop, for these records
 *   ConnectCounters    outcomes of connects and of peers' requests, with reasons
 *   TcpDestination     destinations where clients for RDMA and TCP have connections over TCP, with reasons
 *   Registry           the present devices, loops and connections, and watchers of changes
 *   Recorder, Events   events of the JDK's Flight Recorder
 *   ManagementThread   registers MBeans when the program has started
 * </pre>
 *
 * <h2>What counting costs</h2>
 * A message or a poll costs a plain read, an addition and a plain write: no locked instruction, no object, no cache
 * line that two processors write. The reader computes the sums over all open counters, under a lock that only readers,
 * connects and closes take. Events that happen a few times in the life of a connection are counted by {@link
 * java.util.concurrent.atomic.LongAdder}s, for example the {@code connects} of a device.
 */
package io.netty.channel.rdma.monitor;
