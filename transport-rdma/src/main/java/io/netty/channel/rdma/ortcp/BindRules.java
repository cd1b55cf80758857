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
 * Rules for the failure of one of two listeners at a port, for {@link RdmaOrTcpServerSocketChannel}.
 */
final class BindRules {
    /** For a port that is free on both. That some program has bound the same numbers for RDMA alone is unlikely. */
    private static final int MAX_PORTS = 16;

    private BindRules() { }

    /**
     * Returns whether the server listens for TCP only, as RDMA can't listen at this address, whatever the application
     * does: no device has it, or another user holds the port there, which does not keep TCP from it. Any user may do
     * that on the embedded provider.
     */
    static boolean isWithoutRdma(Throwable rdmaCause, RdmaOrTcpChoice choice) {
        return choice == RdmaOrTcpChoice.RDMA_IF_POSSIBLE || choice == RdmaOrTcpChoice.RDMA_OR_TCP &&
                (rdmaCause instanceof NoRdmaDeviceException || isHeldByAnotherUser(rdmaCause));
    }

    /** Returns whether the failure of the bind has nothing to do with RDMA. */
    static boolean isTcpsAlone(RdmaOrTcpChoice choice) {
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

    /** The application's exception, unless the failure is its own mistake. */
    static IOException failure(InetSocketAddress address, RdmaOrTcpTransport transport, Throwable cause) {
        IOException failure = new BindException("cannot listen at " + address + " for " + transport + ": " +
                cause.getMessage());
        failure.initCause(cause);
        return failure;
    }
}
