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
 * Measures the transports beside each other: round trips and one-way streaming, the same handlers on each.
 *
 * <pre>
 * Comparison  the command: runs rounds, in each every mode in turn, and prints the tables
 *    |  starts for each mode, and stops after it
 *    +-- MeasuredServer  a JVM with one event loop: the echo server and a source of data
 *    +-- MeasuringClient a JVM with one event loop: connects to both, prints Measurement lines
 * </pre>
 *
 * Every sample comes from a fresh pair of processes, of which only one runs at a time, because a polling event loop
 * that nobody measures would take its core from the others. Round trips are measured by the client; a stream is counted
 * where it arrives, which is the client too. Rounds start with a different mode each, medians are taken over the
 * rounds, and only figures of one run are compared.
 */
package io.netty.example.rdma.compare;
