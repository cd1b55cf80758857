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

import static io.netty.util.internal.ObjectUtil.checkNotNull;

/**
 * SEND WITH INVALIDATE: as {@link RdmaSend}, and gives a memory window back to the peer, which has bound it by {@link
 * RdmaMessageChannel#bindWindow}. The peer's {@link RdmaMemoryWindow} is revoked when the peer reads the message.
 * Earlier writes of this channel to the window have arrived by then, and later ones are refused.
 *
 * <p>A key other than that of an open window of this connection ends the connection. soft-RoCE (Linux 6.1) breaks if
 * the window is not open any more.
 */
public final class RdmaSendInv extends RdmaOperation {
    private final RemoteMemory window;

    /**
     * @param data may be empty. The reference is the operation's.
     * @param window the window to give back, or any part of it.
     */
    public RdmaSendInv(ByteBuf data, RemoteMemory window) {
        super(data);
        this.window = checkNotNull(window, "window");
    }

    /**
     * @param local the bytes to send.
     * @param window the window to give back, or any part of it.
     */
    public RdmaSendInv(RegisteredSlice local, RemoteMemory window) {
        this(List.of(local), window);
    }

    /**
     * @param local the bytes to send, as many slices as {@code MAX_SEND_SGES}.
     * @param window the window to give back, or any part of it.
     */
    public RdmaSendInv(List<RegisteredSlice> local, RemoteMemory window) {
        super(local);
        this.window = checkNotNull(window, "window");
    }

    /** The memory of the peer that this channel gives back. */
    public RemoteMemory window() {
        return window;
    }

    @Override
    void begin(SendWorkRequests chain, long id, int flags) {
        chain.sendWithInvalidate(id, flags, window.key());
    }

    @Override
    RdmaSendInv with(ByteBuf content) {
        return new RdmaSendInv(content, window);
    }

    @Override
    RdmaSendInv withLocal() {
        return new RdmaSendInv(local(), window);
    }
}
