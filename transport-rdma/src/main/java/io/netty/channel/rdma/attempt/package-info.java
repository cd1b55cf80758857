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
 * Rules for the attempts of a connect: the next candidate (a provider or a transport), its time, and remembered
 * failures. They do no I/O, and their clock is a parameter, so tests simulate clusters of hosts with them.
 *
 * <pre>
 *   AttemptPlan: one connect ── AttemptRules: the consequences of a failure ── AttemptFailure: the kinds of failures
 *       │
 *   RecentFailures: failed candidates by Destination; one for the process
 * </pre>
 *
 * <h2>Two choices, one plan</h2>
 * {@code RdmaConnector} chooses between providers (shared memory or a device). The package {@code ortcp} chooses
 * between transports (RDMA or TCP); its attempt by RDMA contains a choice between providers. Both choices use an {@link
 * io.netty.channel.rdma.attempt.AttemptPlan}: a list of candidates, the preferred one first, the last resort at the
 * end. They differ in the consequences of failures: see the table of {@link
 * io.netty.channel.rdma.attempt.AttemptRules}.
 *
 * <h2>Properties</h2>
 * <ul>
 * <li>No black hole: a candidate that works is tried if time is left, even if it is remembered to fail. Then it is
 *     tried after the others, which leave time for it.</li>
 * <li>No flapping: a candidate whose failure is remembered is tried again only after the time of the memory, by a
 *     single connect, even if many connects begin then.</li>
 * <li>Bounded cost: a candidate that does not answer costs a connect the time of one attempt, and is remembered.</li>
 * <li>Bounded memory: a new destination replaces the one that was remembered first.</li>
 * </ul>
 */
package io.netty.channel.rdma.attempt;
