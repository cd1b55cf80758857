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
 * Publish and subscribe: a publisher has one record, and replaces it by new editions all the time. Any number of
 * subscribers want the newest edition. They may miss some editions. But each copy is a whole edition, and no older than
 * the copy before.
 *
 * <pre>
 *  by read                                     by write
 *  Press ── SharedMemory                       Press ── Mailing ── WritingPublisher, one a subscriber
 *                ^                                                        │ RDMA WRITE
 *                │ RDMA READ                                              v
 *           ReadSubscriber, any number         WrittenSubscriber: its memory, and a thread that looks
 * </pre>
 * By read, the publisher does nothing for a subscriber, and each subscriber reads as often as it likes. By write, the
 * publisher does a write for each subscriber, and new editions arrive as early as possible.
 *
 * <p>In both ways, no end waits for another one: memory is read while it is written. An {@link
 * io.netty.example.rdma.pubsub.Edition} ends with a CRC of all its bytes. By the CRC a subscriber finds out that its
 * copy is {@linkplain io.netty.example.rdma.pubsub.Edition#TORN torn}, and takes another one. Locks don't help here:
 * the device that reads or writes does not know them. The same number at the beginning and at the end does not help
 * either: the bytes between may arrive, and be fetched, in any order. With {@code --check twice} the record is there
 * twice, and two operations move it in the order that {@link io.netty.example.rdma.pubsub.Edition.Check#TWICE} needs.
 * This needs no arithmetic, but twice the bytes. It works only for records that are not replaced twice while one copy
 * is taken.
 *
 * <p>Subscribers may come and go at any time, and want as many editions as they like. Either end may connect: with
 * {@code --connect} the publisher connects to subscribers that {@code --listen}.
 *
 * <p>A subscriber that has seen enough tells the publisher in a message, and closes when it has the answer. The
 * publisher writes nothing after the answer: memory must not be freed while a peer may still write to it. A subscriber
 * that vanishes without the message, because its process died, does not end the publisher. The result of that
 * connection reports it.
 */
package io.netty.example.rdma.pubsub;
