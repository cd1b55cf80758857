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
 * {@code multicast-publisher} sends numbered data to a group. Each {@code multicast-subscriber} checks the data that it
 * receives, and counts losses. The programs find each other in the group, and may be started in any order. First the
 * publisher calls, until as many subscribers have answered as it waits for. They answer to the publisher's own queue
 * pair, which the channel knows from the datagram. Then the publisher sends the data at a steady rate: nothing slows
 * down a sender of datagrams. Then it sends the number of the data, until all subscribers have reported how many they
 * received. So each type of datagram may be lost.
 *
 * <p>Subscribers may come and go at any time. A subscriber that joins late answers the first data that it receives, and
 * repeats the answer until the end. A subscriber that leaves the group ({@code --leave-after}) reports how many data it
 * has received until then. The publisher does not wait any longer for this subscriber, nor for one that does not answer
 * for a long time.
 *
 * <h2>There and back</h2>
 * {@code datagram-client} sends datagrams to the address of a {@code datagram-server}, one at a time, and the server
 * sends each back. With the first datagram the channel looks up the queue pair behind the address. The client repeats a
 * datagram that does not come back.
 *
 * <p>All datagrams have the format of {@link io.netty.example.rdma.datagrams.Packet}.
 */
package io.netty.example.rdma.datagrams;
