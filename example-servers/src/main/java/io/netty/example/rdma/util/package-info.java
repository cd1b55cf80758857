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
 * Common code of the examples: the command line options of servers and clients, the {@link
 * io.netty.example.rdma.util.Transport} that they choose, TLS, start and end of a program, and the data that is sent
 * and checked. The examples of byte streams run on each transport: a command line option chooses it, and handlers and
 * bootstraps are the same. The examples of messages and datagrams are for RDMA alone, and use {@link
 * io.netty.example.rdma.verbs}.
 */
package io.netty.example.rdma.util;
