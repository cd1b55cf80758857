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
 * Common code of the classic RDMA programs, on {@link io.netty.channel.rdma.message.RdmaMessageChannel}. Each is a pair
 * of programs that check the data that they get, and print a line about the result.
 *
 * <h2>Parts of a program</h2>
 * <ul>
 * <li>A picocli command. Its {@link io.netty.example.rdma.verbs.VerbsOptions} run the program and make its exit status.
 *     Its {@link io.netty.example.rdma.verbs.ConnectionOptions} connect it.</li>
 * <li>A handler, {@link io.netty.example.rdma.verbs.VerbsEnd}: the memory that it exports, its work on the connection,
 *     and a {@link io.netty.example.rdma.verbs.Result}.</li>
 * </ul>
 * Data are pieces of the {@link io.netty.example.rdma.util.Pattern}, each from a position of its own. So data that are
 * lost, stale or in the wrong place do not match. A program's exit status is 0 if all its checks were right.
 *
 * <h2>How the ends find each other</h2>
 * By default, the connection manager connects them. Then the first message of each end is its {@link
 * io.netty.example.rdma.verbs.Introduction}: the program that the end runs, which has to be the same at both ends, and
 * the memory that the peer may access. With {@code --adopt} the program uses the connection manager itself, and
 * channels adopt the requests. With {@code --descriptors}, or {@code -ld} and {@code -re}, each end writes its {@code
 * RdmaEndpoint} and its introduction to a file, and reads the file of the other end. Then neither end is told when the
 * other one has gone, so a program says in its own messages when it is done.
 */
package io.netty.example.rdma.verbs;
