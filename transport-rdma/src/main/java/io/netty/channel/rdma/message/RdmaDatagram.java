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
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.channel.AddressedEnvelope;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;

import java.net.SocketAddress;

/**
 * A datagram of a {@link RdmaDatagramChannel}, in either direction.
 *
 * <p>In a datagram that is read, the sender is a {@link RdmaDatagramAddress}, for answers. The recipient is the address
 * of the channel or of the group. The bytes are in registered memory, which the reader releases.
 *
 * <p>In a datagram that is written, the recipient is a {@link RdmaDatagramAddress}, or an {@link
 * java.net.InetSocketAddress} of a channel or of a joined group (whose port does not matter). {@code null} stands for
 * the peer that the channel is connected to. The application must not change the buffer until the promise is done.
 */
public final class RdmaDatagram extends DefaultByteBufHolder implements AddressedEnvelope<ByteBuf, SocketAddress> {
    private final SocketAddress recipient;
    private final SocketAddress sender;
    private final boolean withImmediate;
    private final int immediate;

    /** @param data may be empty. The reference is the datagram's. */
    public RdmaDatagram(ByteBuf data, SocketAddress recipient) {
        this(data, recipient, null, false, 0);
    }

    /** Creates a datagram with 32 bits beside the bytes: they go over the wire in network order. */
    public RdmaDatagram(ByteBuf data, SocketAddress recipient, int immediate) {
        this(data, recipient, null, true, immediate);
    }

    RdmaDatagram(ByteBuf data, SocketAddress recipient, SocketAddress sender, boolean withImmediate, int immediate) {
        super(data);
        this.recipient = recipient;
        this.sender = sender;
        this.withImmediate = withImmediate;
        this.immediate = immediate;
    }

    /** The recipient; {@code null} in a written datagram for the peer that the channel is connected to. */
    @Override
    public SocketAddress recipient() {
        return recipient;
    }

    /** The sender; {@code null} in a datagram that was not read. */
    @Override
    public SocketAddress sender() {
        return sender;
    }

    /** {@link WorkCompletionOpcode#RECEIVE} if it was read, {@link WorkCompletionOpcode#SEND} if it is written. */
    public int opcode() {
        return sender == null ? WorkCompletionOpcode.SEND : WorkCompletionOpcode.RECEIVE;
    }

    public boolean hasImmediate() {
        return withImmediate;
    }

    /** The 32 bits of the sender, or 0. */
    public int immediate() {
        return immediate;
    }

    @Override
    public RdmaDatagram replace(ByteBuf content) {
        return new RdmaDatagram(content, recipient, sender, withImmediate, immediate);
    }

    @Override
    public RdmaDatagram retain() {
        super.retain();
        return this;
    }

    @Override
    public RdmaDatagram retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public RdmaDatagram touch() {
        super.touch();
        return this;
    }

    @Override
    public RdmaDatagram touch(Object hint) {
        super.touch(hint);
        return this;
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }

    @Override
    public String toString() {
        return "datagram" + (refCnt() > 0 ? " of " + content().readableBytes() + " bytes" : " (released)") +
                (sender == null ? "" : " from " + sender) + (recipient == null ? "" : " to " + recipient) +
                (withImmediate ? ", immediate 0x" + Integer.toHexString(immediate) : "");
    }
}
