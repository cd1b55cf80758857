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
package io.netty.channel.rdma;

import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.verbs.ConnectionRejectedException;

import java.net.ConnectException;
import java.net.NoRouteToHostException;

/** The reason why a connect has failed. */
public enum RdmaConnectFailure {
    /** Nobody listens at the address, or the listener gives no reason. */
    REFUSED,
    /** The listener has rejected the request, with a reason, or is of another version of the native library. */
    REJECTED,
    /** No answer within {@link io.netty.channel.ChannelOption#CONNECT_TIMEOUT_MILLIS}. */
    TIMEOUT,
    /** No RDMA device leads to the address. */
    UNREACHABLE,
    /** The private data of the peer is not of this protocol. */
    PROTOCOL,
    /** The connection manager has given up, or the peer was lost before the connection was made. */
    NETWORK,
    /** A cause on this side: no registered memory, no device with the local address, an option beyond the device. */
    LOCAL;

    /** The kind of a failure that is not a cancellation by the application. */
    static RdmaConnectFailure of(Throwable cause) {
        if (cause instanceof ConnectionRejectedException) {
            return ((ConnectionRejectedException) cause).reason() == ConnectionRejectedException.Reason.REFUSED ?
                    REFUSED : REJECTED;
        }
        if (cause instanceof ConnectTimeoutException) {
            return TIMEOUT;
        }
        if (cause instanceof NoRouteToHostException) {
            return UNREACHABLE;
        }
        if (cause instanceof StreamProtocolException) {
            return PROTOCOL;
        }
        return cause instanceof ConnectException ? NETWORK : LOCAL;
    }
}
