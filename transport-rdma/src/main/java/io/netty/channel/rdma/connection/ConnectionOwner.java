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

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultFileRegion;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * The channel of a {@link RdmaConnection}, as far as the connection knows it. Messages contain its {@code toString()}.
 * On the loop of the connection.
 */
public interface ConnectionOwner {
    /** The address of the peer, for error messages. */
    InetSocketAddress remote();

    /** The reason for the provider of the connection, for monitoring. */
    String providerReason();

    /** The allocator for received bytes that are copied, and for copies of messages that a closed channel has left. */
    ByteBufAllocator allocator();

    /** Returns whether the application has set the receive allocator, which then bounds each read. */
    boolean isReceiveAllocatorSet();

    /** Throws if the file of a region has become shorter than the region. */
    void validate(DefaultFileRegion region) throws IOException;

    /** Returns whether the input is shut down, so that nothing more is given to the pipeline. */
    boolean isInputShutdown();

    /** Returns whether the pipeline knows that the peer's bytes have ended. */
    boolean isEndReported();

    /** Makes the channel active, because the peer of an incoming connection has answered. */
    void established();

    /**
     * Tells that the connection broke before it was established.
     *
     * @param here whether the reason is on this side, and not the peer or the network.
     */
    void notEstablished(IOException cause, boolean here);

    /** The loop that gives arrivals to the pipeline. Always the same object. */
    ReadLoop readLoop();

    /** Tells that flushed messages can't be sent any more, or could not be read. */
    void writeFailed(Throwable cause);

    /** Tells that bytes in flight have arrived, or never will. */
    void advanced();

    /**
     * Tells that the connection is over.
     *
     * @param ended whether the peer had ended its stream before.
     * @param failed whether it broke for another reason than the peer's end or the network.
     */
    void connectionLost(IOException cause, boolean ended, boolean failed);

    /** Tells that the connection broke, after {@link #connectionLost} itself has failed. */
    void abort(IOException cause);
}
