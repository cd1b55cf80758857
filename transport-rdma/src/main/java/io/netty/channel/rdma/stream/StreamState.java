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

/** The part of a connection that is still usable. See the table in the package description. */
public enum StreamState {
    /** The peer's connection data is not known yet. */
    NEW,
    /** Bytes may flow both ways. */
    OPEN,
    /** Output is shut down: this side only receives. */
    OUTPUT_SHUT,
    /** The peer sent SHUTDOWN: this side only sends. */
    INPUT_SHUT,
    /** The own side is closing: {@code nextControl()} has not returned the last control message yet. */
    CLOSING,
    /** Either side sent DISCONNECT, or both sent SHUTDOWN: nothing more is sent. */
    DISCONNECTED,
    /** The peer broke the protocol: nothing more is sent or accepted. */
    FAILED
}
