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
 * A part of registered memory that is open to the peer of one channel for a time. {@link RdmaMessageChannel#bindWindow}
 * makes it. {@link #revoke()}, the peer's {@link RdmaSendInv}, or the end of the connection revokes it. The memory
 * stays registered, and other peers can't use the key. Any thread.
 */
public final class RdmaMemoryWindow {
    /** States in their order. */
    enum State {
        /** The peer may use the window as soon as it has the key. */
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
     * @param remote the part that the window opens.
     */
    RdmaMemoryWindow(MemoryWindows windows, MemoryWindow window, RegisteredMemory memory, RemoteMemory remote,
                     Promise<Void> revoked) {
        this.windows = windows;
        this.window = window;
        this.memory = memory;
        this.remote = remote;
        this.revoked = revoked;
    }

    /** The description of the window for the peer; other peers can't use it. */
    public RemoteMemory remoteMemory() {
        return remote;
    }

    /** Returns whether the window is open, and is not being revoked. */
    public boolean isOpen() {
        return state == State.OPEN;
    }

    /**
     * Closes the window. A later operation of the peer is refused, and ends the connection. So tell the peer before,
     * unless you do not trust it. An operation that is under way may have been done in part. A second call does
     * nothing.
     *
     * @return {@link #revokedFuture()}.
     */
    public Future<Void> revoke() {
        windows.revoke(this);
        return revoked;
    }

    /**
     * Succeeds when the peer can't use the window any more, for any reason. From then on only the application uses the
     * memory.
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
