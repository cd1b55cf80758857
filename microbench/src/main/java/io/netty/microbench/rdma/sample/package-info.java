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
 * Measures a server and a client on one transport.
 *
 * <pre>
 * Launcher   starts processes in a Mode: a transport, and how its event loops wait
 * Pair       a server and a client, each driven by its {@link io.netty.microbench.rdma.process.Control}
 *    |  asks, window by window
 * Settling   decides whether the last windows show the steady state
 * Sample     the figures of these windows
 * </pre>
 *
 * <p><b>Cold code does not count.</b> A new virtual machine needs some six seconds of CPU time in each process to
 * compile a protocol stack, and until then it is up to twenty times slower. There is no fixed warm-up. A new pair does
 * all its scenarios in turn, a slice of 0.2 s of each, until the compilers have next to nothing to do in a whole turn.
 * (Warmed up by one row after the other, code would be compiled for one row alone, and again in the next.) Whenever
 * compilers have work, the event loops rest until it is done, because otherwise both would share the cores. Then the
 * client does a scenario in windows of 0.1 s or 0.2 s. {@link io.netty.microbench.rdma.sample.Settling} alone decides
 * when the last five of them show the steady state. These windows are the sample. A scenario that does not settle
 * within a limit keeps its figures, with a mark and the range of its windows; this is no error. A scenario that ran for
 * less than a second has no figures, because they would be wrong. Compilers are watched by the CPU time of their
 * threads: their own count has a compilation only when it is done, which is too late.
 *
 * <p>Each process has one event loop. Latency is the time from the start of an operation to its checked end. The load
 * is closed: the next operation starts when one has ended. Only {@code ./run-bench.sh} has paced loads, whose latency
 * begins when an operation was due.
 */
package io.netty.microbench.rdma.sample;
