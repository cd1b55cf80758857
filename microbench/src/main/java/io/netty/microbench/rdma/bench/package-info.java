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
 * The whole picture of how fast the transport is, by one command: {@code ./run-bench.sh}.
 *
 * <pre>
 * Bench          the command: rounds; in each every Part, in each every transport in turn, as Effort says
 *    +-- Part    a server of the examples and a LoadClient, as Processes; its Readings. MessagesLoad, PlaintextLoad,
 *    |           PacedLoad (PacedMeasurements) and IdleLoad (IdleMeasurements) are here. The C programs shm_limit and
 *    |           noise
 * BenchResults   every Reading, what is Missing, where it was measured (Machine): results.json
 *    +-- Goal, TableGoal         what is to be reached, and whether these readings do
 *    +-- MarkdownReport, Plots   results.md and its plots, by Section
 * </pre>
 *
 * <p>How processes are driven, and when what they do counts, is the matter of {@link io.netty.microbench.rdma.sample}.
 * Nothing is averaged before it is written: medians, ranges and ratios are made when tables are. A ratio is one of
 * two readings of the same round; of the ratios of all rounds the median and the range are shown.
 */
package io.netty.microbench.rdma.bench;
