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
package io.netty.example.rdma.pingpong;

/**
 * Modes: the end that writes, the end that reads, and the way in which they notice. See the package description.
 */
public enum PingPongMode {
    /** The client writes to the server's memory and reads it back. */
    CLIENT,
    /** The server writes to the client's memory and reads it back. */
    SERVER,
    /** As {@link #CLIENT}, but without waiting for the write: one completion for both operations. */
    UNSIGNALLED,
    /** Each writes to the other's memory, and looks at its own until the bytes are there. */
    WRITE,
    /** Each end reads the other's memory, and says so in a message. */
    READ,
    /** Each end reads the other's memory until the data are there, without any message. */
    READ_ONLY,
    /** The client sends a message, and the server sends it back. */
    SEND,
    /** Each end writes to the other's memory, and a message behind the write says so. */
    WRITE_ACK,
    /** Each end writes to the other's memory, with immediate data. */
    WRITE_IMM,
    /** As {@link #WRITE}, with data that the other end does not know: it scans for bytes that were not written yet. */
    SCAN;

    /** Returns whether the end measures. If only one end does operations, this is the same end. */
    boolean isDrivenBy(boolean client) {
        return client == (this != SERVER);
    }
}
