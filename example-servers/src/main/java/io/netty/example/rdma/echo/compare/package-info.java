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
 * The echo comparison: round trips and one-way streaming, the same handlers on each transport.
 *
 * <pre>
 * EchoComparison  the command: a file through the echo on each transport, then rounds of all modes
 *    |  starts for each mode, and stops after it
 *    +-- MeasuredServer  a JVM with one event loop: the echo server and a source of data
 *    +-- MeasuringClient a JVM with one event loop: connects to both, prints Measurement lines
 * </pre>
 *
 * <p>It has a client of its own instead of a {@link io.netty.example.rdma.compare.LoadClient}: a round trip of a
 * microsecond leaves no room for a promise each, and a stream has no operations.
 */
package io.netty.example.rdma.echo.compare;
