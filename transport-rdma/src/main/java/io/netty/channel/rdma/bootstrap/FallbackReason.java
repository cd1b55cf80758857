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

import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.rdma.verbs.ConnectionRejectedException;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;

import java.io.IOException;
import java.net.NoRouteToHostException;
import java.nio.channels.ClosedChannelException;

/**
 * Why a connection goes over TCP where RDMA would have been preferred. {@link RdmaOrTcpBootstrap} has the whole table.
 */
public enum FallbackReason {
    /** This process can't use RDMA, or the event loop does not serve its channels. Known without trying. */
    UNAVAILABLE(false),

    /** No RDMA device leads to the destination, or none has the local address. */
    NO_ROUTE(true),

    /** The destination's host says that nobody listens for RDMA at this port. */
    REFUSED(true),

    /** There was no answer within the time for RDMA: see {@link RdmaOrTcpBootstrap#rdmaConnectTimeout}. */
    TIMEOUT(true),

    /** There is a listener, and it has a reason to refuse, such as a full backlog; or it speaks another protocol. */
    REJECTED(false),

    /** Any other I/O error, or too little memory: registered or direct. */
    FAILED(false),

    /** RDMA was not tried, because an attempt has failed not long ago: see {@link RdmaOrTcpPaths}. */
    REMEMBERED(false),

    /** RDMA was not tried, because a {@link PathRule} has chosen {@link PathChoice#TCP_ONLY}. */
    RULE(false);

    private final boolean lasting;

    FallbackReason(boolean lasting) {
        this.lasting = lasting;
    }

    /** Whether the next attempt would probably fail as well, and is worth being avoided for a while. */
    boolean isLasting() {
        return lasting;
    }

    /**
     * The reason for a failed attempt to connect an RDMA channel, or to create one.
     *
     * @return {@code null} for a failure that TCP is no answer to: anything but I/O errors and too little memory, and a
     *         closed channel.
     */
    public static FallbackReason of(Throwable cause) {
        if (cause instanceof UnsatisfiedLinkError) {
            return UNAVAILABLE;
        }
        if (cause instanceof OutOfMemoryError) {
            // Netty's, of direct memory: a connection over TCP needs less of it.
            return FAILED;
        }
        if (!(cause instanceof IOException) || cause instanceof ClosedChannelException) {
            return null;
        }
        if (cause instanceof ConnectTimeoutException) {
            return TIMEOUT;
        }
        // Netty appends the address to the message of an exception, in one of its own.
        for (Throwable t = cause; t != null; t = t.getCause()) {
            if (t instanceof NoRouteToHostException || t instanceof NoRdmaDeviceException) {
                return NO_ROUTE;
            }
            if (t instanceof ConnectionRejectedException) {
                return ((ConnectionRejectedException) t).isRefused() ? REFUSED : REJECTED;
            }
        }
        return FAILED;
    }
}
