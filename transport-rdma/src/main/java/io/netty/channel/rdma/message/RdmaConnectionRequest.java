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

import io.netty.channel.ChannelFuture;

import java.net.InetSocketAddress;

/**
 * The request of a peer to connect: a user event in the pipeline of the channel that the connection will have. A
 * handler that takes the event accepts or rejects the request, at once or later. At the end of the pipeline the request
 * is accepted, without data. Any thread.
 */
public final class RdmaConnectionRequest {
    private final RdmaMessageChannel channel;
    private final byte[] data;

    RdmaConnectionRequest(RdmaMessageChannel channel, byte[] data) {
        this.channel = channel;
        this.data = data;
    }

    public RdmaMessageChannel channel() {
        return channel;
    }

    public InetSocketAddress remoteAddress() {
        return channel.remoteAddress();
    }

    /** The bytes that the peer sent with its request ({@code CONNECT_DATA}); padded with zeros to 56 bytes. */
    public byte[] data() {
        return data.clone();
    }

    /** Accepts without data. */
    public ChannelFuture accept() {
        return accept(new byte[0]);
    }

    /**
     * Accepts.
     *
     * @param answer for the peer, which gets it padded with zeros; at most 196 bytes.
     * @return is done when the connection is established, and the channel active. Fails with an {@link
     *         IllegalStateException} if the request is answered already; with a {@code ClosedChannelException} if the
     *         peer has given up. Fails, and closes the channel, if the device can't do what the options say, or if the
     *         peer does not complete the connection within {@code CONNECT_TIMEOUT_MILLIS}.
     * @throws IllegalArgumentException if the answer is longer; the request can still be answered.
     */
    public ChannelFuture accept(byte[] answer) {
        return channel.answer(true, PrivateData.copy(answer, PrivateData.MAX_ANSWER, "answer"));
    }

    /**
     * Rejects, and closes the channel.
     *
     * @param reason for the peer, which gets it padded with zeros; at most 148 bytes.
     * @return is done when the channel is closed. Fails with an {@link IllegalStateException} if the request is
     *         answered already.
     * @throws IllegalArgumentException if the reason is longer; the request can still be answered.
     */
    public ChannelFuture reject(byte[] reason) {
        return channel.answer(false, PrivateData.copy(reason, PrivateData.MAX_REASON, "reason"));
    }

    @Override
    public String toString() {
        return "connection request of " + remoteAddress();
    }
}
