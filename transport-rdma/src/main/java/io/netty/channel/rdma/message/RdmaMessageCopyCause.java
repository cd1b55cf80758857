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
package io.netty.channel.rdma.message;

/**
 * Why bytes of a message, a datagram or an operation were copied, once, instead of being sent from, read into, or
 * delivered, where they were.
 */
public enum RdmaMessageCopyCause {
    /** Posted: in a heap buffer, or one that does not tell where its bytes are. */
    HEAP,
    /** Posted: in direct memory that is not registered, of another allocator for example. */
    FOREIGN,
    /** Posted: in memory that could not be registered with this device, which is logged. */
    UNREGISTERED,
    /**
     * Posted: in more pieces than the operation can have ({@link
     * io.netty.channel.rdma.RdmaChannelOption#MAX_SEND_SGES}, and what the device can do), so that all its bytes are
     * copied, wherever they are.
     */
    PIECES,
    /**
     * Received: there is no other buffer to receive into, as the application has not released those that it got, or,
     * with {@link io.netty.channel.rdma.RdmaChannelOption#SHARED_RECEIVE_QUEUE}, has not read a whole receive queue of
     * them.
     */
    RECEIVED_HELD;

    /** The number of causes without {@link #RECEIVED_HELD}. */
    static final int POSTED = RECEIVED_HELD.ordinal();
}
