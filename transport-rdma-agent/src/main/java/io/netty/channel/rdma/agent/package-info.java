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
 * An agent of the JVM by which programs on Netty 4.2 get RDMA that are not changed: {@code docs/agent.md}.
 * <pre>
 *   Premain                           system class loader
 *      │
 *   transform, options, ASM           a class loader of the agent, below that of the platform
 *      │ changes classes of Netty, adds jars to the loader of Netty
 *   hooks, options, the transport     the class loader of Netty
 * </pre>
 * A program asks Netty for an event loop and a channel by names of classes. The names stay, and so do the objects that
 * a program can tell apart: event loop groups, bootstraps, pipelines. What changes are the handler within an event
 * loop, which is made around that of the program, and the class of the channel that a bootstrap makes.
 *
 * <p>The rule of all of it: what can't be done leaves the program as it was, with one line that says why. A hook that
 * throws returns what the program has made.
 */
package io.netty.channel.rdma.agent;
