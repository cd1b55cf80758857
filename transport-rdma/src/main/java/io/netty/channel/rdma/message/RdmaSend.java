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
 * SEND: the readable bytes arrive in the peer's next receive, as one {@link RdmaReceive}. A {@link ByteBuf} that is
 * written to the channel becomes an {@code RdmaSend}.
 */
public final class RdmaSend extends RdmaOperation {
    /** @param data may be empty. The reference is the operation's. */
    public RdmaSend(ByteBuf data) {
        super(data);
    }

    /** @param local the bytes to send. */
    public RdmaSend(RegisteredSlice local) {
        this(List.of(local));
    }

    /** @param local the bytes to send, as many slices as {@code MAX_SEND_SGES}. */
    public RdmaSend(List<RegisteredSlice> local) {
        super(local);
    }

    @Override
    void begin(SendWorkRequests chain, long id, int flags) {
        chain.send(id, flags);
    }

    @Override
    RdmaSend with(ByteBuf content) {
        return new RdmaSend(content);
    }

    @Override
    RdmaSend withLocal() {
        return new RdmaSend(local());
    }
}
