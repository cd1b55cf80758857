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
package io.netty.channel.rdma.metrics;

import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.rdma.monitor.ConnectCounters;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.verbs.ConnectionRejectedException;
import io.netty.channel.rdma.verbs.VerbsProvider;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Connects of all byte-stream and message channels of this process: by provider and the reason for it, and failures by
 * their reason. {@link RdmaDeviceMetrics} counts connections by device. Any thread.
 */
public final class RdmaConnectMetrics {
    /** The reason why a listening channel has rejected the request of a peer. */
    public enum Rejection {
        /** Half-open and unread connections have reached {@link io.netty.channel.ChannelOption#SO_BACKLOG}. */
        BACKLOG,
        /** The private data of the peer is not of this protocol, or invalid. */
        PROTOCOL,
        /** The application called {@link io.netty.channel.rdma.message.RdmaConnectionRequest#reject}. */
        APPLICATION,
        /** The server can't make a queue pair: no registered memory, an option beyond the device, or it is closing. */
        SERVER
    }

    /** The reason why a connect has failed. */
    public enum Failure {
        /** No process listens at the address, or the listener gives no reason. */
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
        /** On this side: no registered memory, no device with the local address, an option beyond the device. */
        LOCAL;

        /** Returns the kind of a failure that is not a cancellation by the application. */
        public static Failure of(Throwable cause) {
            if (cause instanceof ConnectionRejectedException rejected) {
                return rejected.reason() == ConnectionRejectedException.Reason.REFUSED ? REFUSED : REJECTED;
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

    private static final VerbsProvider[] PROVIDERS = VerbsProvider.values();
    private static final RdmaConnectMetrics TOTAL = new RdmaConnectMetrics();

    private RdmaConnectMetrics() { }

    /** The metrics of this process. */
    public static RdmaConnectMetrics total() {
        return TOTAL;
    }

    /** Returns the number of connections that this process has requested and made by this provider, for this reason. */
    public long connects(VerbsProvider provider, RdmaProviderChoice.Reason reason) {
        return ConnectCounters.connects(provider, reason);
    }

    /**
     * Returns the number of connects that have failed for this reason, without those that the application cancelled.
     */
    public long failures(Failure reason) {
        return failures(null, reason) +
                Arrays.stream(PROVIDERS).mapToLong(provider -> failures(provider, reason)).sum();
    }

    /**
     * Returns the number of connects that have failed for this reason, with the last attempt by this provider.
     *
     * @param provider {@code null} for connects without an attempt, because the options allow no provider.
     */
    public long failures(VerbsProvider provider, Failure reason) {
        return ConnectCounters.failures(provider, reason);
    }

    /** Returns the number of requests of peers that this process's listening channels have rejected for this reason. */
    public long rejections(Rejection reason) {
        return ConnectCounters.rejections(reason);
    }

    /** Returns the number of requests whose peers went, or did not answer in time, before their connection was made. */
    public long vanishedPeers() {
        return ConnectCounters.vanishedPeers();
    }

    /**
     * A text such as {@code ibverbs connects: none; embedded connects: NEAREST=2; connect failures: REFUSED=1; ...}.
     */
    @Override
    public String toString() {
        return Arrays.stream(PROVIDERS).map(provider -> provider.name().toLowerCase(Locale.ROOT) + " connects: " +
                text(RdmaProviderChoice.Reason.values(), reason -> connects(provider, reason)))
                .collect(Collectors.joining("; ")) +
                "; connect failures: " + text(Failure.values(), this::failures) + "; rejections: " +
                text(Rejection.values(), this::rejections) + "; peers that vanished: " + vanishedPeers();
    }

    private static <E extends Enum<E>> String text(E[] reasons, ToLongFunction<E> counts) {
        String text = Arrays.stream(reasons).filter(reason -> counts.applyAsLong(reason) > 0)
                .map(reason -> reason + "=" + counts.applyAsLong(reason)).collect(Collectors.joining(", "));
        return text.isEmpty() ? "none" : text;
    }
}
