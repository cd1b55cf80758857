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
 * An agent of the JVM that gives RDMA to unchanged programs on Netty 4.2: {@code docs/agent.md}.
 * <pre>
 *   Premain                           system class loader
 *      │
 *   transform, options, ASM           a class loader of the agent, below that of the platform
 *      │ changes classes of Netty, adds jars to the loader of Netty
 *   hooks, options, the transport     the class loader of Netty
 * </pre>
 * A program asks Netty for event loops and channels by class names. The agent keeps event loop groups, bootstraps and
 * pipelines as they are. It changes two things: the {@code IoHandler} of an event loop, which gets an RDMA handler
 * around it, and the class of the channel that a bootstrap makes.
 *
 * <p>If the agent can't change something, the program stays as it was there, and one line has the reason. If a hook
 * fails, it returns the object that the program has made.
 */
package io.netty.channel.rdma.agent;
