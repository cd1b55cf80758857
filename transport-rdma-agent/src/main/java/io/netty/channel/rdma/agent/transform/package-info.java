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
 * The agent itself: which classes are changed, how, and in which class loaders. In a class loader of its own, with ASM,
 * below that of the platform: it knows no class of Netty, and no application sees it.
 * <pre>
 *   Agent                  the start
 *     └── NettyTransformer what happens to a class that is loaded
 *           ├── Patches    the changes themselves
 *           ├── HardCasts  casts to classes of channels, for which these stay as they are
 *           │     └── InterfaceCasts  others, that become casts to interfaces
 *           │           └── NettyTypes  what these interfaces have
 *           └── Attachments  the loaders that get the transport
 *                 ├── NettyJars  the version of a Netty, and what it lacks
 *                 └── AgentJar   the jars that are added
 * </pre>
 */
package io.netty.channel.rdma.agent.transform;
