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
 * Channels that are deregistered from one event loop and registered with another one, connected or not. Not for
 * applications. Channels of messages and datagrams have no part in it once they are connected or bound.
 * <pre>
 *   ConnectionIdMigration   takes a connection id to the event channel of another loop
 *   LoopId                  the id of a channel that is bound, listens or connects, and may migrate
 *   CompletionRelay         completions that follow a connection to another loop
 * </pre>
 *
 * <h2>The connection id</h2>
 * It migrates to the event channel of the new loop. The old loop does that, between two events, and the new one goes on
 * when it knows. An event may arrive there before, so the listener is known there from the beginning. The id of an
 * incoming connection goes from its listener's loop to that of its channel in the same way.
 *
 * <h2>The completion queue</h2>
 * A queue pair can't be given another completion queue. So the loop on which the connection was made goes on polling,
 * and hands completions to the loop of the connection, in order: that costs a wake-up, but no work of the connection is
 * done anywhere but on its loop ({@code LoopBinding}). A connection that comes back gets its completions directly
 * again.
 * <pre>
 *   loop that polls                             loop of the connection
 *   LoopDevice: owners                          LoopDevice: owners
 *      CompletionRelay  ── tasks ──►               RdmaConnection: no completions, but ends with its loop
 * </pre>
 * As long as the relay is there, the loop that polls is not suspended. When that loop ends, the loop of one of these
 * connections takes over its part of the device ({@code CompletionRelay.takeOver}). If those loops have ended as well,
 * the last release of a queue pair closes the completion queues.
 *
 * <h2>Threads</h2>
 * A connection and its id belong to the loop that they are on, or were on last; the relay to the loop that polls, apart
 * from the methods for the connection.
 */
package io.netty.channel.rdma.loop.move;
