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
 * Measures the transports beside each other, with the same server and the same client on each: a command for each
 * example.
 *
 * <pre>
 * ExampleComparison   a command that compares one example: XComparison for X
 *    |
 * Comparison          rounds, as the Plan says: in each every mode in turn, then the table; in the end the chart
 *    |
 * Pair                the processes of a mode
 *    +-- the example's server, just as it runs alone
 *    +-- LoadClient   does what a Scenario says
 * </pre>
 *
 * <p><b>Only one pair runs.</b> A polling event loop that nobody measures would take its core from the others. By
 * default the processes of a mode stay for all rounds, and their event loops are parked in a task while others have
 * their turn: the connections stay, and no thread of the loops runs, whatever it would do by itself. (SIGSTOP would
 * stop the compilers and the provider's threads too, in the middle of what they share with others.) With {@code --full}
 * each round starts fresh ones, as where memory and threads come to lie makes a difference that no repetition in one
 * process shows. Rounds take the modes in different orders. Ratios are those of one round; only figures of one run are
 * compared.
 */
package io.netty.microbench.rdma.comparison;
