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
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.verbs.SendWorkRequests;

import java.util.List;

/**
 * SEND WITH IMMEDIATE: as {@link RdmaSend}, with 32 bits that the peer finds in {@link RdmaReceive#immediate()}.
 */
public final class RdmaSendImm extends RdmaOperation {
    private int immediate;

    /**
     * @param data may be empty. The reference is the operation's.
     * @param immediate goes over the wire in network order.
     */
    public RdmaSendImm(ByteBuf data, int immediate) {
        super(data);
        this.immediate = immediate;
    }

    /**
     * @param local the bytes to send.
     * @param immediate goes over the wire in network order.
     */
    public RdmaSendImm(RegisteredSlice local, int immediate) {
        this(List.of(local), immediate);
    }

    /**
     * @param local the bytes to send, as many slices as {@code MAX_SEND_SGES}.
     * @param immediate goes over the wire in network order.
     */
    public RdmaSendImm(List<RegisteredSlice> local, int immediate) {
        super(local);
        this.immediate = immediate;
    }

    public int immediate() {
        return immediate;
    }

    /**
     * Sets the 32 bits for the next write of the operation.
     *
     * @throws IllegalStateException if the operation is in flight.
     */
    public RdmaSendImm immediate(int newImmediate) {
        change();
        immediate = newImmediate;
        return this;
    }

    @Override
    void begin(SendWorkRequests chain, long id, int flags) {
        chain.sendWithImmediate(id, flags, immediate);
    }

    @Override
    RdmaSendImm with(ByteBuf content) {
        return new RdmaSendImm(content, immediate);
    }

    @Override
    RdmaSendImm withLocal() {
        return new RdmaSendImm(local(), immediate);
    }
}
