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
 * Metrics of the process, its event loops and devices. Each class shows what a lower package counts.
 * <pre>
 *   RdmaConnectMetrics    connects by provider and reason, failed connects, rejected requests
 *   RdmaProviderChoice    the provider of one connection, and why
 *   RdmaLoopMetrics       an event loop
 *   RdmaDeviceMetrics     a device
 *   RdmaMetricsMBean      all of these by JMX, with the present connections
 * </pre>
 * The counters of a channel are beside its class: {@link io.netty.channel.rdma.RdmaMetrics}, {@link
 * io.netty.channel.rdma.message.RdmaMessageMetrics}, {@link io.netty.channel.rdma.ortcp.RdmaOrTcpMetrics}. Their
 * {@code total()} has the sums of the process.
 */
package io.netty.channel.rdma.metrics;
