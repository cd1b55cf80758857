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
 * Rules for the attempts of a connect: the next candidate (a provider or a transport), its time, and the memory of
 * failures. They have no I/O and a clock from outside, so a test simulates clusters of hosts with them.
 *
 * <pre>
 *   AttemptPlan: one connect ── AttemptRules: what a failure means for the next ── AttemptFailure: how one has failed
 *       │
 *   FailureMemory: which candidates have failed, by Destination; of the process
 * </pre>
 *
 * <h2>Two choices, one plan</h2>
 * There is a choice between providers (shared memory or a device, made by {@code RdmaConnector}), and one between
 * transports (RDMA or TCP, made by the package {@code ortcp}), which has the former inside of its attempt by RDMA.
 * Both are a {@link io.netty.channel.rdma.attempt.AttemptPlan}: a list of candidates, preferred first, of which
 * the last one is the last resort. They differ in what failures mean, which is the table of {@link
 * io.netty.channel.rdma.attempt.AttemptRules}.
 *
 * <h2>Properties</h2>
 * <ul>
 * <li>No black hole: a candidate that works is tried while there is time, also if it was remembered to fail: then after
 *     the others, for which that leaves time.</li>
 * <li>No flapping: a candidate that failed in a way that lasts is tried again after the time for which it is
 *     remembered, by one connect, whatever the number of those that begin then.</li>
 * <li>Bounded cost: a candidate that does not answer costs a connect the time for one attempt, and is remembered.</li>
 * <li>Bounded memory: the destination that was remembered first gives way.</li>
 * </ul>
 */
package io.netty.channel.rdma.attempt;
