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
 * The classic programs of RDMA as Netty code, on {@link io.netty.channel.rdma.message.RdmaMessageChannel}: each a pair
 * of programs that check what they get and print a line about it.
 *
 * <h2>What a program consists of</h2>
 * <ul>
 * <li>A picocli command with {@link io.netty.example.rdma.verbs.VerbsOptions}, which runs it and makes its exit status,
 *     and {@link io.netty.example.rdma.verbs.ConnectionOptions}, which connects it.</li>
 * <li>A handler, {@link io.netty.example.rdma.verbs.VerbsEnd}: what it exports, what it does when it is connected, and
 *     what came of it, a {@link io.netty.example.rdma.verbs.Result}.</li>
 * </ul>
 * Data are pieces of the {@link io.netty.example.rdma.util.Pattern}, each from a position of its own, so that what is
 * lost, stale or in the wrong place does not match. A program's exit status is 0 if every check of it was right.
 *
 * <h2>How the ends find each other</h2>
 * Either by the connection manager. Then the first message of each end is its {@link
 * io.netty.example.rdma.verbs.Introduction}: what it was started for, which has to be the same at both ends, and the
 * memory that it gives access to. An application that uses the connection manager itself has the requests adopted by
 * channels, as {@code --adopt} does. Or by {@code --descriptors}, or {@code -ld} and {@code -re}: each end writes its
 * {@code RdmaEndpoint} and its introduction to a file, and reads the other's. Neither end is told when the other has
 * gone, so a program says in its own messages when it is done.
 */
package io.netty.example.rdma.verbs;
