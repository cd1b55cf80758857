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

import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.verbs.MemoryWindow;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;

/**
 * A part of registered memory that is open to the peer of one channel for a time: made by {@link
 * RdmaMessageChannel#bindWindow}, and revoked by {@link #revoke()}, by the peer with {@link RdmaSendInv}, or by the end
 * of the connection, whatever comes first. The memory stays registered, and nobody else can use the key. Any thread.
 */
public final class RdmaMemoryWindow {
    /** States in their order. */
    enum State {
        /** The peer may use it as soon as it knows it. */
        OPEN,
        /** The device was told to close it. */
        REVOKING,
        /** The peer can't use it any more. */
        REVOKED
    }

    private final MemoryWindows windows;
    final MemoryWindow window;
    final RegisteredMemory memory;
    private final RemoteMemory remote;
    private final Promise<Void> revoked;
    private volatile State state = State.OPEN;

    /**
     * @param memory already retained.
     * @param remote what it opens.
     */
    RdmaMemoryWindow(MemoryWindows windows, MemoryWindow window, RegisteredMemory memory, RemoteMemory remote,
                     Promise<Void> revoked) {
        this.windows = windows;
        this.window = window;
        this.memory = memory;
        this.remote = remote;
        this.revoked = revoked;
    }

    /** The description of the window for the peer. It is of no use to any other. */
    public RemoteMemory remoteMemory() {
        return remote;
    }

    /** Returns whether the window is open, and nothing has begun to revoke it. */
    public boolean isOpen() {
        return state == State.OPEN;
    }

    /**
     * Closes the window. An operation of the peer that comes later is refused, and ends the connection: so tell the
     * peer before, unless it is not to be trusted. One that is under way may have been done in part. Does nothing the
     * second time.
     *
     * @return {@link #revokedFuture()}.
     */
    public Future<Void> revoke() {
        windows.revoke(this);
        return revoked;
    }

    /**
     * Succeeds when the peer can't use the window any more, for whatever reason. From then on the memory is the
     * application's alone again.
     */
    public Future<Void> revokedFuture() {
        return revoked;
    }

    // ---- on the loop of the channel

    State state() {
        return state;
    }

    void state(State newState) {
        state = newState;
    }

    void tellRevoked() {
        revoked.trySuccess(null);
    }

    @Override
    public String toString() {
        return "window to " + remote + ", " + state;
    }
}
