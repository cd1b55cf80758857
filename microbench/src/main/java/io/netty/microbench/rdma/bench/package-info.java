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
 * Measures the speed of the transport as a whole, by one command: {@code ./run-bench.sh}.
 *
 * <pre>
 * Bench          the command: in each round it measures every Part on every transport in turn, as Effort says
 *    +-- Part    starts a server of the examples and a LoadClient as processes, and takes Readings. Load clients here:
 *    |           MessagesLoad, PlaintextLoad, PacedLoad (PacedMeasurements), IdleLoad (IdleMeasurements). C programs:
 *    |           shm_limit, noise
 * BenchResults   every Reading, what is Missing, and the Machine: results.json
 *    +-- Goal, TableGoal         bounds for figures, and whether these readings reach them
 *    +-- MarkdownReport, Plots   results.md and its plots, by Section
 * </pre>
 *
 * <p>{@link io.netty.microbench.rdma.sample} drives the processes, and decides which of their work counts. The readings
 * are not averaged before they are written: tables have medians, ranges and ratios. A ratio is one of two readings of
 * the same round. The median and the range of the ratios of all rounds are shown.
 */
package io.netty.microbench.rdma.bench;
