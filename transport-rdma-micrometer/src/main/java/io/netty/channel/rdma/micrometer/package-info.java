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
 * The metrics of the transport in Micrometer: {@link io.netty.channel.rdma.micrometer.RdmaMeterBinder}. docs/metrics.md
 * lists all meters.
 * <pre>
 *   RdmaMeterBinder      the class that applications use: adds and removes all meters
 *      ├── Bound         the meters of one registry, by their source
 *      ├── ProcessMeters those of the process: byte streams, messages, memory, connects, transports
 *      ├── LoopMeters    those of an event loop, as long as it runs
 *      └── DeviceMeters  those of a device, and the kernel's counters of its ports
 * </pre>
 * Meters read counters when they are scraped; this package counts nothing. No meter is of a single channel, because
 * monitoring systems can't take meters of any number of channels. {@code channel.metrics()} has these.
 */
package io.netty.channel.rdma.micrometer;
