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
 * Processes that are measured, and what they and others take of the machine.
 *
 * <pre>
 * Child            a Java process that this one started
 * Control          inside of it: does what its standard input says, such as telling what it has used (Prober, Probe)
 * MeasuredServer   the server of an example with a Control
 * ProcessUse       what the kernel counts of a process; Others: of those that are not measured; Machine: where it was
 * </pre>
 */
package io.netty.microbench.rdma.process;
