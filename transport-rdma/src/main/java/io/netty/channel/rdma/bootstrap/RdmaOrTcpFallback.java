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
package io.netty.channel.rdma.bootstrap;

import java.util.Objects;

/**
 * Why a connection goes over TCP. The value of {@link RdmaOrTcp#FALLBACK}; immutable.
 */
public final class RdmaOrTcpFallback {
    private final RdmaOrTcpFallbackReason reason;
    private final String message;

    RdmaOrTcpFallback(RdmaOrTcpFallbackReason reason, String message) {
        this.reason = Objects.requireNonNull(reason, "reason");
        this.message = Objects.requireNonNull(message, "message");
    }

    public RdmaOrTcpFallbackReason reason() {
        return reason;
    }

    /** Description of the failure, for people. */
    public String message() {
        return message;
    }

    @Override
    public String toString() {
        return reason + ": " + message;
    }
}
