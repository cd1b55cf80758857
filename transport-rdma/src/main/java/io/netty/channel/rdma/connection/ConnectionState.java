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
package io.netty.channel.rdma.connection;

/**
 * The states of a connection. What leads from one to another is in the package description.
 */
enum ConnectionState {
    /** The queue pair exists. What the peer says of itself is not known yet. */
    CREATED,
    /** The private data of the peer is known. Whether the peer can receive is not. */
    NEGOTIATED,
    /** The peer can receive. The channel is not active yet. */
    READY,
    /** The channel is active. */
    OPEN,
    /** The channel is closed. What it has left is sent, and then the end of the stream. */
    CLOSING,
    /** Disconnected. Work requests come back, among them receives with the peer's last bytes. */
    FLUSHING,
    /** The work requests have all come back, and the channel was told. It has to be closed. */
    LOST,
    /** The channel is closed and the connection disconnected. The next turn destroys it. */
    ABORTING,
    /** Everything is given back. */
    DESTROYED;

    boolean isAtLeast(ConnectionState other) {
        return compareTo(other) >= 0;
    }
}
