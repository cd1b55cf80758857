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
package io.netty.channel.rdma;

/** The reason why a listening channel has rejected the request of a peer. */
public enum RdmaRejection {
    /**
     * The number of connections that were half-open, or not read, has reached
     * {@link io.netty.channel.ChannelOption#SO_BACKLOG}.
     */
    BACKLOG,
    /** The private data of the peer is not of this protocol, or not possible. */
    PROTOCOL,
    /** The application has rejected it: {@link io.netty.channel.rdma.message.RdmaConnectionRequest#reject}. */
    APPLICATION,
    /** The server has no queue pair for it: no registered memory, an option beyond the device, or it is closing. */
    SERVER
}
