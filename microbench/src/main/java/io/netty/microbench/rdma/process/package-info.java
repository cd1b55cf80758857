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
 * Processes that are measured, and the share of the machine that they and others use.
 *
 * <pre>
 * Child            a Java process that this process has started
 * Control          inside the child: executes commands from standard input, such as a Probe of resources (Prober)
 * MeasuredServer   main class of a child: the server of an example with a Control
 * ProcessUse       what the kernel counts of a process; Others: use by other processes; Machine: its description
 * </pre>
 */
package io.netty.microbench.rdma.process;
