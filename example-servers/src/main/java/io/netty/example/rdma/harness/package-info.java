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
 * ExampleComparison  a command that compares one example
 *    |
 * Comparison         rounds: in each every mode in turn, then the table
 *    |
 * Pair               the processes of a mode, each driven by its {@link io.netty.example.rdma.harness.Control}
 *    |  asks, window by window                            Settling  do the last windows count?
 *    +-- the example's server, just as it runs alone      Sample    those that do
 *    |                                                    Others    who else takes the cores?
 *    +-- LoadClient  does what a Scenario says (Load)     Results   all samples, by mode and scenario
 *                                                         Report    the table, with its Remarks
 *
 * ChartOutput        a Chart of the results, in the end: TerminalChart, as wide as the Terminal; BarPlot, an SVG file
 * </pre>
 *
 * <p><b>Nothing cold counts.</b> A new virtual machine needs some six seconds of CPU time in each process to compile
 * what a protocol stack does, and until then it is up to twenty times slower. There is no fixed warm-up: a new pair
 * does all its scenarios in turn, a slice of 0.2 s of each, until the compilers have next to nothing to do in a whole
 * turn. Whenever compilers turn out to have work, the loops rest until it is done: they would else have to share the
 * cores with them. (A turn does what the rows will do: warmed up by one row after the other, code is compiled for a
 * row alone, and again in the next.) Then the client does a scenario in windows of a tenth of a second or two, and
 * {@link io.netty.example.rdma.harness.Settling} decides, in one place, when the last five of them show the steady
 * state. These windows are the sample: what has settled needs no other measurement. A scenario that does not settle
 * until a limit is in the table with a mark and the range of its windows, which is no error;
 * {@link io.netty.example.rdma.harness.Remarks} says in a sentence what was seen, and how much of the cores
 * {@link io.netty.example.rdma.harness.Others} had. Only what was done for less than a second has no figures: they
 * would be wrong, and not only wide. Compilers are watched by the CPU time of their threads: their own count
 * tells of a compilation when it is done, and that is too late.
 *
 * <p><b>Only one pair runs.</b> A polling event loop that nobody measures would take its core from the others. By
 * default the processes of a mode stay for all rounds, and their event loops are parked in a task while others have
 * their turn: the connections stay, and no thread of the loops runs, whatever it would do by itself. (SIGSTOP would
 * stop the compilers and the provider's threads too, in the middle of what they share with others.) With {@code --full}
 * each round starts fresh ones, as where memory and threads come to lie makes a difference that no repetition in one
 * process shows. Rounds take the modes in different orders. Ratios are those of one round; only figures of one run are
 * compared.
 *
 * <p>An example is a command with {@link io.netty.example.rdma.util.ServerRun} and knows nothing of this package.
 * What compares it is in {@link io.netty.example.rdma.harness.load}: a subclass of
 * {@link io.netty.example.rdma.harness.LoadClient} that says what the scenarios are, and one of
 * {@link io.netty.example.rdma.harness.ExampleComparison} that names both. Each process has one event loop. Latency is
 * from the start of an operation to its checked end; load is closed: the next operation starts when one has ended. Only
 * {@code ./run-bench.sh} has loads that are paced, of which latency begins when an operation was due.
 */
package io.netty.example.rdma.harness;
