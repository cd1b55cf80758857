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

import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.DeviceAddresses;
import io.netty.channel.rdma.verbs.Errno;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsProvider;

import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Errors for addresses that can't be used. They name the addresses of this host's RDMA devices.
 */
public final class Reachability {
    private Reachability() { }

    /** The devices with their addresses, for an error message. */
    static String devices(VerbsApi verbs) {
        try {
            return "of the RDMA devices, " + DeviceAddresses.find(verbs);
        } catch (VerbsException | SocketException e) {
            return "the addresses of the RDMA devices can't be found out: " + e.getMessage();
        }
    }

    /**
     * The address to connect to. Like TCP on Linux, it replaces the wildcard address by one of this host, so that a
     * connect to {@code server.localAddress()} works. The embedded provider does that itself.
     *
     * @param verbs to connect by.
     */
    public static InetSocketAddress destination(VerbsApi verbs, InetSocketAddress remote, InetSocketAddress local)
            throws VerbsException, SocketException {
        InetAddress address = remote.getAddress();
        if (!address.isAnyLocalAddress() || verbs.provider() == VerbsProvider.EMBEDDED) {
            return remote;
        }
        if (local != null && !local.getAddress().isAnyLocalAddress()) {
            return new InetSocketAddress(local.getAddress(), remote.getPort());
        }
        DeviceAddresses addresses = DeviceAddresses.recent(verbs);
        InetAddress own = addresses.ofThisHost(address.getClass());
        if (own == null && address instanceof Inet6Address) {
            // A listener at the wildcard of IPv6 listens for IPv4, too.
            own = addresses.ofThisHost(InetAddress.class);
        }
        return own == null ? remote : new InetSocketAddress(own, remote.getPort());
    }

    /** The error for a failed call of address or route resolution: no route, or this host is short of a resource. */
    public static IOException unreachable(VerbsApi verbs, VerbsException e) {
        return isShortage(e.errno()) ? e : unreachable(verbs, e.getMessage(), e);
    }

    /**
     * The error for an event that reports failed address or route resolution.
     *
     * @param peer {@code null} if the caller adds it to the message.
     */
    public static IOException unreachable(ConnectionEvent event, InetSocketAddress peer) {
        String description = (peer == null ? "" : peer + ": ") + event.describe();
        return isShortage(-event.status()) ? new ConnectException("cannot resolve the address: " + description) :
                unreachable(event.id().verbs(), description + (event.status() == -Errno.ENOTUNIQ ?
                        ": several network namespaces have this address, and share the folder of the embedded " +
                        "provider" : ""), null);
    }

    /** The place where the embedded provider looked for a listener, for the message of a refusal; else empty. */
    public static String missing(VerbsApi verbs) {
        return verbs.provider() == VerbsProvider.EMBEDDED ? OfThisHost.MISSING : "";
    }

    /** Constants of all refusals by the embedded provider. */
    private static final class OfThisHost {
        static final String MISSING = " (no process " + which() + " listens for RDMA; TCP listeners do not count)";

        private static String which() {
            String reach = VerbsApi.embeddedReach();
            return reach.startsWith("none") ? "of user " + user() + " in this network namespace" :
                    "in the folder " + reach;
        }

        /** The id of the user. Its name may be one of another container, or missing. */
        private static Object user() {
            try {
                return Files.getAttribute(Path.of("/proc/self"), "unix:uid");
            } catch (IOException | UnsupportedOperationException e) {
                return System.getProperty("user.name");
            }
        }
    }

    private static boolean isShortage(int errno) {
        return errno == Errno.ENOMEM || errno == Errno.EMFILE;
    }

    private static IOException unreachable(VerbsApi verbs, String why, Throwable cause) {
        NoRouteToHostException e = new NoRdmaRouteException(verbs, why);
        e.initCause(cause);
        return e;
    }

    /**
     * An exception that makes its message when it is read. The message needs the addresses of all devices, with some
     * system calls for each. A connect that has another provider to try throws this exception for every peer on another
     * host.
     */
    private static final class NoRdmaRouteException extends NoRouteToHostException {
        private static final long serialVersionUID = 1L;

        private final transient VerbsApi verbs;
        private final String why;
        private String message;

        NoRdmaRouteException(VerbsApi verbs, String why) {
            this.verbs = verbs;
            this.why = why;
        }

        @Override
        public synchronized String getMessage() {
            if (message == null) {
                message = "No RDMA route (" + why + "; the address must be one that an RDMA device reaches: " +
                        devices(verbs) + ')';
            }
            return message;
        }

        /** The class that applications know. */
        @Override
        public String toString() {
            return NoRouteToHostException.class.getName() + ": " + getMessage();
        }

        /** The serialized form has the message. */
        private Object writeReplace() {
            NoRouteToHostException replacement = new NoRouteToHostException(getMessage());
            replacement.initCause(getCause());
            replacement.setStackTrace(getStackTrace());
            return replacement;
        }
    }
}
