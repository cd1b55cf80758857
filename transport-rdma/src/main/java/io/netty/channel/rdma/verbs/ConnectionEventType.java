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
package io.netty.channel.rdma.verbs;

import io.netty.util.internal.UnstableApi;

/**
 * The type of a connection manager event ({@code enum rdma_cm_event_type}, in its order; rdma_get_cm_event(3)).
 */
@UnstableApi
public enum ConnectionEventType {
    ADDRESS_RESOLVED,
    ADDRESS_ERROR,
    ROUTE_RESOLVED,
    ROUTE_ERROR,
    /** A peer wants to connect. The event's id is a new one, which must be accepted or rejected. */
    CONNECT_REQUEST,
    /** The peer accepted, and the connecting id has no queue pair. */
    CONNECT_RESPONSE,
    CONNECT_ERROR,
    /** The peer does not answer. */
    UNREACHABLE,
    /** The peer refused, or no process listens. */
    REJECTED,
    ESTABLISHED,
    DISCONNECTED,
    DEVICE_REMOVAL,
    MULTICAST_JOIN,
    MULTICAST_ERROR,
    ADDRESS_CHANGE,
    /** The queue pair has left the time-wait state and may be reused. */
    TIMEWAIT_EXIT;

    private static final ConnectionEventType[] VALUES = values();

    /** @return {@code null} for a type that is newer than this class. */
    static ConnectionEventType of(int value) {
        return value >= 0 && value < VALUES.length ? VALUES[value] : null;
    }
}
