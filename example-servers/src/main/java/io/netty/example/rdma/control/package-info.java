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
 * What a process that is measured has in common with others of its kind, whatever it does: a channel to the process
 * that measures it, on standard input and output.
 *
 * <p>{@link io.netty.example.rdma.control.Control} reads a command a line and answers each with a line; the process
 * ends no later than its input, that is with the process that started it. {@link io.netty.example.rdma.control.Probe}
 * is what the process has used so far: the difference between two is what it used in between.
 */
package io.netty.example.rdma.control;
