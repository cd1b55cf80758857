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
 * The metrics of the transport in Micrometer: {@link io.netty.channel.rdma.micrometer.RdmaMeterBinder}. All meters are
 * in docs/metrics.md.
 * <pre>
 *   RdmaMeterBinder      what an application names: binds all of these, and takes them away again
 *      ├── Bound         the meters of one registry, by where they come from
 *      ├── ProcessMeters those of the process: byte streams, messages, memory, connects, transports
 *      ├── LoopMeters    those of an event loop, as long as it runs
 *      └── DeviceMeters  those of a device, and the kernel's counters of its ports
 * </pre>
 * Meters read counters when they are scraped; nothing is counted here. None is of a single channel: there may be any
 * number of them, which monitoring systems don't take. {@code channel.metrics()} has those.
 */
package io.netty.channel.rdma.micrometer;
