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
 * Publish and subscribe: a publisher has one record, of which there are new editions all the time, and any number of
 * subscribers want the newest one. They may miss some; but what they have is one edition, and no older than what they
 * had.
 *
 * <pre>
 *  by read                                     by write
 *  Press ── SharedMemory                       Press ── Mailing ── WritingPublisher, one a subscriber
 *                ^                                                        │ RDMA WRITE
 *                │ RDMA READ                                              v
 *           ReadSubscriber, any number         WrittenSubscriber: its memory, and a thread that looks
 * </pre>
 * By read, the publisher does nothing for a subscriber, and each asks as often as it likes. By write, news are where
 * they are wanted as early as possible, and the publisher does a write for each.
 *
 * <p>In both, nobody waits for anybody: memory is read while it is written. An {@link
 * io.netty.example.rdma.pubsub.Edition} ends with a CRC of all of it, by which a subscriber finds out that its
 * copy is {@linkplain io.netty.example.rdma.pubsub.Edition#TORN torn}. Then it takes another one. Locks don't
 * help here: the device that reads or writes knows nothing of them. A number at the beginning and the same number at
 * the end don't either: the bytes between may arrive, and be fetched, in any order. With {@code --check twice} the
 * record is there twice, and moved by two operations in the order that {@link
 * io.netty.example.rdma.pubsub.Edition.Check#TWICE} needs: no arithmetic, but twice the bytes, and only for records
 * that are not replaced twice while one copy is taken.
 *
 * <p>Subscribers may come and go at any time, and want as many editions as they like. Who connects makes no difference:
 * with {@code --connect} it is the publisher, to subscribers that {@code --listen}.
 *
 * <p>A subscriber that has enough says so in a message, and closes when it has the answer, behind which nothing more is
 * written: memory must not go while a peer may still write to it. One that goes without that, because its process died,
 * does not end the publisher, which tells so in the result of that connection.
 */
package io.netty.example.rdma.pubsub;
