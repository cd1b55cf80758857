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

import io.netty.buffer.ByteBuf;
import io.netty.channel.rdma.verbs.AddressHandle;
import io.netty.channel.rdma.verbs.SendWorkRequests;

import java.net.SocketAddress;

/**
 * A datagram that was written: the operation that sends it, its recipient, and its result. On the loop of the channel.
 */
final class DatagramSend extends RdmaOperation {
    /** The recipient as written; {@code null} for the peer that the channel is connected to. */
    final SocketAddress recipient;
    private final boolean withImmediate;
    private final int immediate;
    private RdmaDatagramAddress target;
    private AddressHandle handle;
    private boolean done;
    private Throwable failure;

    DatagramSend(ByteBuf data, SocketAddress recipient, boolean withImmediate, int immediate) {
        super(data);
        this.recipient = recipient;
        this.withImmediate = withImmediate;
        this.immediate = immediate;
    }

    RdmaDatagramAddress target() {
        return target;
    }

    /** Sets the address of the recipient's queue pair, which is known now. */
    void target(RdmaDatagramAddress address) {
        target = address;
    }

    void handle(AddressHandle newHandle) {
        handle = newHandle;
    }

    /** Returns whether the datagram was sent, or never will be. */
    boolean isDone() {
        return done;
    }

    /** The reason why the datagram was not sent, or {@code null}. */
    Throwable failure() {
        return failure;
    }

    void done(Throwable cause) {
        done = true;
        failure = cause;
    }

    @Override
    void begin(SendWorkRequests chain, long id, int flags) {
        if (withImmediate) {
            chain.sendWithImmediate(id, flags, immediate);
        } else {
            chain.send(id, flags);
        }
        chain.to(handle, target.queuePairNumber(), target.queueKey());
    }

    @Override
    DatagramSend with(ByteBuf content) {
        return new DatagramSend(content, recipient, withImmediate, immediate);
    }

    @Override
    public String toString() {
        return "datagram" + (refCnt() > 0 ? " of " + length() + " bytes" : " (released)") + " to " +
                (recipient == null ? "the connected peer" : recipient);
    }
}
