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

import io.netty.channel.rdma.verbs.Errno;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import io.netty.channel.rdma.verbs.VerbsException;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;

/**
 * Rules of {@link RdmaOrTcpServerSocketChannel} for the case that one of its two listeners can't be bound.
 */
final class BindRules {
    /** The most ports that are tried to find one that is free on both. Few programs bind a port for RDMA alone. */
    private static final int MAX_PORTS = 16;

    private BindRules() { }

    /**
     * Returns whether the server listens for TCP only, because RDMA can't listen at this address: no device has it, or
     * another user holds the port for RDMA. On the embedded provider any user can hold a port.
     */
    static boolean mayListenWithoutRdma(Throwable rdmaCause, RdmaOrTcpChoice choice) {
        return choice == RdmaOrTcpChoice.RDMA_IF_POSSIBLE || choice == RdmaOrTcpChoice.RDMA_OR_TCP &&
                (rdmaCause instanceof NoRdmaDeviceException || isHeldByAnotherUser(rdmaCause));
    }

    /** Returns whether the failure of the bind has nothing to do with RDMA. */
    static boolean onlyTcpMayFail(RdmaOrTcpChoice choice) {
        return choice == RdmaOrTcpChoice.RDMA_IF_POSSIBLE || choice == RdmaOrTcpChoice.TCP_ONLY;
    }

    private static boolean isHeldByAnotherUser(Throwable rdmaCause) {
        return rdmaCause instanceof BindException && rdmaCause.getCause() instanceof VerbsException &&
                ((VerbsException) rdmaCause.getCause()).errno() == Errno.EACCES;
    }

    /**
     * Returns whether another port may do for RDMA.
     *
     * @param address that the application has asked for.
     * @param ports   that were tried.
     */
    static boolean mayDoAtAnotherPort(Throwable rdmaCause, InetSocketAddress address, int ports) {
        return rdmaCause instanceof BindException && !(rdmaCause instanceof NoRdmaDeviceException) &&
                address.getPort() == 0 && ports < MAX_PORTS;
    }

    /** The exception of a bind that failed for this transport. */
    static IOException failure(InetSocketAddress address, RdmaOrTcpTransport transport, Throwable cause) {
        IOException failure = new BindException("cannot listen at " + address + " for " + transport + ": " +
                cause.getMessage());
        failure.initCause(cause);
        return failure;
    }
}
