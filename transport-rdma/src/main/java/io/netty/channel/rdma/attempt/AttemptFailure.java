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
package io.netty.channel.rdma.attempt;

import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.rdma.verbs.ConnectionRejectedException;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;

import java.net.NoRouteToHostException;
import java.net.SocketException;

/** The kind of failure of an attempt to reach a peer by one provider or transport. */
public enum AttemptFailure {
    /** No process listens at the address. */
    REFUSED,
    /** The candidate has no route to the address, or does not have the local address. */
    NO_ROUTE,
    /** No answer in time. */
    TIMEOUT,
    /** The listener rejected the request with a reason. */
    REJECTED,
    /** The listener's library for this provider is of another version. */
    VERSION,
    /** The network failed, or the peer before it answered. */
    NETWORK,
    /** Any other failure: too little memory, an answer of another protocol. */
    OTHER;

    /** Returns the kind of an exception or its causes: Netty wraps an exception to add the address. */
    public static AttemptFailure of(Throwable cause) {
        if (cause instanceof ConnectTimeoutException) {
            return TIMEOUT;
        }
        for (Throwable t = cause; t != null; t = t.getCause()) {
            if (t instanceof NoRouteToHostException || t instanceof NoRdmaDeviceException) {
                return NO_ROUTE;
            }
            if (t instanceof ConnectionRejectedException rejected) {
                return switch (rejected.reason()) {
                case REFUSED -> REFUSED;
                case VERSION -> VERSION;
                default -> REJECTED;
                };
            }
        }
        return cause instanceof SocketException ? NETWORK : OTHER;
    }
}
