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
 * The agent itself, which changes classes of Netty and of applications. It is in a class loader of its own, with ASM,
 * whose parent is the platform's loader. So it can't use classes of Netty, and no application sees it.
 * <pre>
 *   Agent                  the start
 *     └── NettyTransformer called for each class that is loaded
 *           ├── Patches    the changes themselves
 *           ├── HardCasts  casts to classes of channels, which then are not swapped
 *           │     └── InterfaceCasts  other casts, which become casts to interfaces
 *           │           └── NettyTypes  the methods of these interfaces
 *           └── Attachments  the class loaders that get the transport
 *                 ├── NettyJars  the version of a Netty, and its missing jars
 *                 └── AgentJar   the jars that are added
 * </pre>
 */
package io.netty.channel.rdma.agent.transform;
