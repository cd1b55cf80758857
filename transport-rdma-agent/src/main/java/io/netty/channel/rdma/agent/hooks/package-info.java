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
 * Methods that the changed classes of Netty call. The package is in the class loader of the application's Netty, beside
 * the transport.
 * <pre>
 *   Hooks                     the methods that are called
 *     ├── Swaps               handlers and channels in place of the program's
 *     │     └── Rules         which addresses may have RDMA
 *     ├── TranslatedOptions   options under other names, allocators
 *     └── Report              which classes were swapped, and which not
 *           └── Shared        objects that the agent shares with this package
 * </pre>
 */
package io.netty.channel.rdma.agent.hooks;
