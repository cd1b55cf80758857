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
 * Datagrams, on {@link io.netty.channel.rdma.message.RdmaDatagramChannel}: to a group, and to one receiver.
 *
 * <h2>Publish and subscribe by multicast</h2>
 * {@code multicast-publisher} sends numbered data to a group, and each {@code multicast-subscriber} checks what reaches
 * it and counts what does not. They find each other in the group, so none has to be started first: the publisher calls
 * until as many subscribers as it waits for have answered, to its own queue pair, as the sender of a datagram can be
 * answered without asking anybody for its address. Then it sends, at a steady rate, since nobody holds a sender of
 * datagrams up. Then it says how many there were, until all of them have told how many they got. So datagrams may be
 * lost of each kind.
 *
 * <p>Subscribers may come and go in the middle. One that hears data first answers then, until the end comes. One that
 * leaves the group ({@code --leave-after}) tells what it has got until then, and the publisher does not wait for it;
 * nor for one that does not answer for long.
 *
 * <h2>There and back</h2>
 * {@code datagram-client} sends datagrams to the address of a {@code datagram-server}, one at a time, which sends each
 * back. The channel asks for the queue pair behind the address with the first one. One that does not come back is sent
 * again.
 *
 * <p>A {@link io.netty.example.rdma.datagrams.Packet} is what all of them look like.
 */
package io.netty.example.rdma.datagrams;
