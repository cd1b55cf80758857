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
package io.netty.channel.rdma.stream;

/** The meaning of an immediate from the peer. */
public enum StreamEvent {
    /** Application bytes: {@link StreamMachine#arrival()} says where they are. */
    DATA,
    /** Credits were granted, receive buffers were advertised, or both: a waiting writer should try again. */
    CREDIT,
    /** The peer will send no more bytes. The event may be repeated; repetitions mean nothing. */
    SHUTDOWN,
    /** The peer will neither send nor read any more. */
    DISCONNECT,
    /** A sign of life. If it needs an answer, {@link StreamMachine#nextControl()} has it. */
    KEEP_ALIVE,
    /** The peer wants its receive buffers back: {@link StreamMachine#nextControl()} has the answer. */
    RETRACT,
    /**
     * The peer has given back the segments that {@link StreamMachine#retract()} asked for. {@link
     * StreamMachine#arrival()} is the one that has bytes, as an arrival of no bytes that fills it; its area is null if
     * there is none.
     */
    RETRACTED
}
