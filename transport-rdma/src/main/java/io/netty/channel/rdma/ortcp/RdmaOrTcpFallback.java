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
package io.netty.channel.rdma.ortcp;

import io.netty.channel.rdma.attempt.AttemptFailure;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;

/**
 * The reason why a connection goes over TCP. The value of {@link RdmaOrTcp#FALLBACK}.
 *
 * @param reason  for metrics and decisions.
 * @param message what happened, for a person.
 */
public record RdmaOrTcpFallback(Reason reason, String message) {
    /** Reasons for TCP where RDMA would have been preferred. {@link RdmaOrTcpSocketChannel} has the whole table. */
    public enum Reason {
        /**
         * RDMA is not available in this process, or the event loop does not serve its channels. Known without an
         * attempt.
         */
        UNAVAILABLE,

        /** No RDMA device leads to the destination, or none has the local address. */
        NO_ROUTE,

        /** The destination's host answers that no process listens for RDMA at this port. */
        REFUSED,

        /**
         * There was no answer within the time for RDMA: see {@link RdmaOrTcpChannelOption#RDMA_CONNECT_TIMEOUT_MILLIS}.
         */
        TIMEOUT,

        /**
         * The listener refuses, for example because its backlog is full, or it speaks another protocol, or has a native
         * library of another version.
         */
        REJECTED,

        /** Any other I/O error, or too little memory: registered or direct. */
        FAILED,

        /** RDMA was not tried, because an attempt has failed not long ago: see {@link RdmaOrTcpFailures}. */
        REMEMBERED,

        /** RDMA was not tried, because a {@link RdmaOrTcpRule} has chosen {@link RdmaOrTcpChoice#TCP_ONLY}. */
        RULE;

        /**
         * The reason for a failed attempt to connect an RDMA channel, or to create one.
         *
         * @return {@code null} if TCP is not to be tried: for a closed channel, and for failures other than I/O errors
         *         and too little memory.
         */
        public static Reason of(Throwable cause) {
            if (cause instanceof UnsatisfiedLinkError) {
                return UNAVAILABLE;
            }
            if (cause instanceof OutOfMemoryError) {
                // Netty throws it for direct memory, and a connection over TCP needs less of that.
                return FAILED;
            }
            if (!(cause instanceof IOException) || cause instanceof ClosedChannelException) {
                return null;
            }
            return switch (AttemptFailure.of(cause)) {
            case NO_ROUTE -> NO_ROUTE;
            case REFUSED -> REFUSED;
            case TIMEOUT -> TIMEOUT;
            case REJECTED, VERSION -> REJECTED;
            default -> FAILED;
            };
        }
    }

    public RdmaOrTcpFallback {
        Objects.requireNonNull(reason, "reason");
        Objects.requireNonNull(message, "message");
    }

    @Override
    public String toString() {
        return reason + ": " + message;
    }
}
