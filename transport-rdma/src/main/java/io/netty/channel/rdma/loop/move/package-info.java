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
 * Moves channels, connected or not, that are deregistered from one event loop and registered with another one. Not for
 * applications. Message channels can't move when they are connected, and datagram channels when they are bound.
 * <pre>
 *   ConnectionIdMigration   takes a connection id to the event channel of another loop
 *   LoopId                  the id of a channel that is bound, listens or connects, and may migrate
 *   CompletionRelay         completions that follow a connection to another loop
 * </pre>
 *
 * <h2>The connection id</h2>
 * The id migrates to the event channel of the new loop. The old loop does this between two events, and then tells the
 * new loop, which goes on. An event may arrive at the new loop before, so the listener is registered there first. The
 * id of an incoming connection moves from its listener's loop to the loop of its channel in the same way.
 *
 * <h2>The completion queue</h2>
 * A queue pair can't change its completion queue. So the loop on which the connection was made goes on polling, and
 * passes completions to the loop of the connection, in order. This costs a wake-up, but the connection works only on
 * its own loop ({@code LoopBinding}). A connection that comes back gets its completions directly again.
 * <pre>
 *   loop that polls                             loop of the connection
 *   LoopDevice: owners                          LoopDevice: owners
 *      CompletionRelay  ── tasks ──►               RdmaConnection: no completions, but ends with its loop
 * </pre>
 * The loop that polls is not suspended while it has a relay. When it ends, the loop of one of these connections takes
 * over its part of the device ({@code CompletionRelay.takeOver}). If those loops have ended as well, the completion
 * queues are closed when the last queue pair is released.
 *
 * <h2>Threads</h2>
 * A connection and its id belong to the loop that they are on, or were on last. The relay belongs to the loop that
 * polls, apart from the methods for the connection.
 */
package io.netty.channel.rdma.loop.move;
