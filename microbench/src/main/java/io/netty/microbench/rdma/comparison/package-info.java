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
 * Compares the transports, with the same server and the same client on each: a command for each example.
 *
 * <pre>
 * ExampleComparison   a command that compares the transports by one example X, named XComparison
 *    |
 * Comparison          measures every mode in turn, for as many rounds as the Plan says; writes tables and a chart
 *    |
 * Pair                the processes of a mode
 *    +-- the example's server, just as it runs alone
 *    +-- LoadClient   does the operations of a Scenario
 * </pre>
 *
 * <p><b>Only one pair runs.</b> A polling event loop that is not measured would take a core from the others. By default
 * the processes of a mode stay for all rounds. While others are measured, their event loops are parked in a task: the
 * connections stay, and no thread of the loops runs, even if the loops poll. (SIGSTOP would also stop the compilers and
 * the provider's threads, in the middle of work on memory that they share with others.) With {@code --full} each round
 * starts new processes: the placement of memory and threads makes a difference that no repetition in one process shows.
 * Rounds take the modes in different orders. A ratio is one of a single round, and only figures of one run are
 * compared.
 */
package io.netty.microbench.rdma.comparison;
