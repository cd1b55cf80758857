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
 * Settling   do the last windows count?
 * Sample     those that do
 * </pre>
 *
 * <p><b>Nothing cold counts.</b> A new virtual machine needs some six seconds of CPU time in each process to compile
 * what a protocol stack does, and until then it is up to twenty times slower. There is no fixed warm-up: a new pair
 * does all its scenarios in turn, a slice of 0.2 s of each, until the compilers have next to nothing to do in a whole
 * turn. Whenever compilers turn out to have work, the loops rest until it is done: they would else have to share the
 * cores with them. (A turn does what the rows will do: warmed up by one row after the other, code is compiled for a
 * row alone, and again in the next.) Then the client does a scenario in windows of a tenth of a second or two, and
 * {@link io.netty.microbench.rdma.sample.Settling} decides, in one place, when the last five of them show the steady
 * state. These windows are the sample: what has settled needs no other measurement. A scenario that does not settle
 * until a limit keeps its figures, marked, and the range of its windows, which is no error. Only what was done for less
 * than a second has no figures: they would be wrong, and not only wide. Compilers are watched by the CPU time of their
 * threads: their own count tells of a compilation when it is done, and that is too late.
 *
 * <p>Each process has one event loop. Latency is from the start of an operation to its checked end; load is closed: the
 * next operation starts when one has ended. Only {@code ./run-bench.sh} has loads that are paced, of which latency
 * begins when an operation was due.
 */
package io.netty.microbench.rdma.sample;
