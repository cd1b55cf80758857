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
 * Measures the transports beside each other, with the same server and the same client on each.
 *
 * <pre>
 * Comparison         rounds: in each every mode in turn, each sample from processes of its own
 *    |
 * ExampleComparison  a command that compares one example
 *    |  starts for each mode, and stops after it
 *    +-- the example's server, just as it runs alone ({@link io.netty.example.rdma.ServerOptions})
 *    +-- LoadClient  does one Scenario after the other, checks every answer, prints Measurement lines
 * </pre>
 *
 * <p>Every sample comes from a fresh pair of processes, of which only one runs at a time: a polling event loop
 * that nobody measures would take its core from the others, and code that was compiled for one transport would be slow
 * for the next. Each process has one event loop. Rounds start with a different mode each, medians are taken over the
 * rounds, and only figures of one run are compared.
 *
 * <p>An example brings three small classes: a command with {@link io.netty.example.rdma.ServerOptions}, a subclass of
 * {@link io.netty.example.rdma.compare.LoadClient} that says what the scenarios are, and one of
 * {@link io.netty.example.rdma.compare.ExampleComparison} that names both. Latency is from the start of an operation to
 * its checked end; load is closed: the next operation starts when one has ended.
 */
package io.netty.example.rdma.compare;
