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
package io.netty.channel.rdma.connection;

import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.Errno;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.unix.Socket;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;

/**
 * Binds connection ids to local addresses. If that is impossible, throws the exceptions of a socket.
 */
public final class Bind {
    private Bind() { }

    /** Binds to an address of a device as the options say, or to the wildcard. The id stays the caller's. */
    public static void bind(ConnectionId id, InetSocketAddress local, DeviceOptions device) throws IOException {
        InetSocketAddress address = device.local(id.verbs(), local, null);
        try {
            id.bind(address);
        } catch (VerbsException e) {
            throw exception(id.verbs(), e, address);
        }
        if (!address.getAddress().isAnyLocalAddress() && id.device() == null) {
            // The kernel treats a loopback address like the wildcard (cma_any_addr() of drivers/infiniband/core/cma.c).
            // So a listener at 127.0.0.1, which is meant for this host alone, could be reached from everywhere.
            throw noDevice(id.verbs(), "no RDMA device has this address, and the kernel would listen on all devices",
                    address, null);
        }
        device.check(id);
    }

    /**
     * The address that a listener is bound to. As with a socket of Netty, either wildcard address stands for both
     * families: {@code bind(port)} has Java's wildcard, that of IPv4, but is not meant for IPv4 alone.
     *
     * @param oneFamily the wildcard address stands for its own family alone.
     */
    public static InetSocketAddress listenAddress(InetSocketAddress address, boolean oneFamily)
            throws UnknownHostException {
        if (oneFamily || !address.getAddress().isAnyLocalAddress() || !Socket.isIPv6Preferred()) {
            return address;
        }
        return new InetSocketAddress(InetAddress.getByAddress(new byte[16]), address.getPort());
    }

    public static IOException exception(VerbsApi verbs, VerbsException cause, InetSocketAddress address) {
        switch (cause.errno()) {
        case Errno.EADDRNOTAVAIL:
            if (cause.call().endsWith("_create_qp")) { // of the queue pair of a datagram channel
                return exception(cause.getMessage(), address, cause);
            }
            // The kernel has the same error for a conflict with the wildcard address (cma_check_port()).
            return exception(isLocal(address) ? "the port is in use together with the wildcard address" :
                    "no network interface of this host has this address; " + Reachability.devices(verbs), address,
                    cause);
        case Errno.ENODEV:
            return noDevice(verbs, "no RDMA device has this address", address, cause);
        case Errno.EADDRINUSE:
        case Errno.EACCES:
            return exception(cause.getMessage(), address, cause);
        default:
            return cause;
        }
    }

    private static boolean isLocal(InetSocketAddress address) {
        try {
            return address.getAddress().isAnyLocalAddress() ||
                    NetworkInterface.getByInetAddress(address.getAddress()) != null;
        } catch (SocketException e) {
            return false;
        }
    }

    private static IOException noDevice(VerbsApi verbs, String why, InetSocketAddress address, VerbsException cause) {
        IOException e = new NoRdmaDeviceException(message(why + "; " + Reachability.devices(verbs), address));
        e.initCause(cause);
        return e;
    }

    private static IOException exception(String why, InetSocketAddress address, VerbsException cause) {
        IOException e = new BindException(message(why, address));
        e.initCause(cause);
        return e;
    }

    private static String message(String why, InetSocketAddress address) {
        return "cannot bind " + address + ": " + why;
    }
}
