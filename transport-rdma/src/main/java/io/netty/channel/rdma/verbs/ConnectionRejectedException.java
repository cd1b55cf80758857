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
package io.netty.channel.rdma.verbs;

import java.net.ConnectException;

/**
 * The peer's host answered a connection request with a rejection. The exception of a connect has it as its cause.
 */
public final class ConnectionRejectedException extends ConnectException {
    private static final long serialVersionUID = 7254480915268301127L;

    private final Reason reason;
    private final byte[] data;

    /** The reason of a rejection. */
    public enum Reason {
        /** No process listens, or the listener gives no reason. Kernel verbs have the same answer for both. */
        REFUSED,
        /** The listener has a reason, which is in the message. */
        REJECTED,
        /** The listener's library has an incompatible version. */
        VERSION
    }

    /** @param data see {@link #data()}. */
    public ConnectionRejectedException(String message, Reason reason, byte[] data) {
        super(message);
        this.reason = reason;
        this.data = data;
    }

    /** The bytes that the peer sent with the rejection, padded with zeros to 148 bytes. */
    public byte[] data() {
        return data.clone();
    }

    /** The reason of the rejection. */
    public Reason reason() {
        return reason;
    }
}
