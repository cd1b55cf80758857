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
package io.netty.channel.rdma.micrometer;

import io.micrometer.core.instrument.Tags;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.message.RdmaMessageMetrics;
import io.netty.channel.rdma.metrics.RdmaConnectMetrics;
import io.netty.channel.rdma.metrics.RdmaProviderChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFallback;
import io.netty.channel.rdma.ortcp.RdmaOrTcpMetrics;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.channel.rdma.verbs.VerbsProvider;

import java.util.Locale;
import java.util.function.ToLongFunction;

/** Meters of the process. */
final class ProcessMeters {
    /** The source object of the meters. */
    static final ProcessMeters INSTANCE = new ProcessMeters();

    private ProcessMeters() { }

    static void register(Bound.Group<ProcessMeters> meters) {
        streams(meters);
        memory(meters);
        messages(meters);
        connects(meters);
        transports(meters);
    }

    private static void streams(Bound.Group<ProcessMeters> meters) {
        RdmaMetrics streams = RdmaMetrics.total();
        String sent = "Sent on byte streams";
        meters.counter("netty.rdma.stream.sent", Bound.BYTES, sent, way("in_place"), of -> streams.bytesSentInPlace());
        meters.counter("netty.rdma.stream.sent", Bound.BYTES, sent, way("inline"), of -> streams.bytesSentInline());
        meters.counter("netty.rdma.stream.sent", Bound.BYTES, sent, way("copied"), of -> streams.bytesSentCopied());
        String received = "Received on byte streams";
        meters.counter("netty.rdma.stream.received", Bound.BYTES, received, way("in_place"),
                of -> streams.bytesReceivedInPlace());
        meters.counter("netty.rdma.stream.received", Bound.BYTES, received, way("copied"),
                of -> streams.bytesReceivedCopied());
        for (RdmaMetrics.CopyCause cause : RdmaMetrics.CopyCause.values()) {
            meters.counter("netty.rdma.stream.copied", Bound.BYTES, "Copied on byte streams, by cause",
                    Tags.of("cause", tag(cause)), of -> streams.bytesCopied(cause));
        }
        meters.timer("netty.rdma.stream.credit.stall",
                "How often, and how long, flushed bytes have waited for the peer",
                of -> streams.creditStalls(), of -> streams.creditStallNanos());
        meters.gauge("netty.rdma.stream.stalled", null, "Connections whose flushed bytes wait for the peer",
                Tags.empty(), of -> streams.stalledConnections());
        meters.gauge("netty.rdma.stream.detached", Bound.BYTES,
                "Flushed bytes of closed channels that are still to be sent", Tags.empty(),
                of -> streams.detachedBytes());
        meters.gauge("netty.rdma.stream.receive.memory", Bound.BYTES, "Registered memory where bytes of peers arrive",
                Tags.empty(), of -> streams.receiveMemory());
    }

    private static void memory(Bound.Group<ProcessMeters> meters) {
        meters.gauge("netty.rdma.memory.pinned", Bound.BYTES, "Registered memory", Tags.empty(),
                of -> RdmaMetrics.pinnedMemory());
        meters.gauge("netty.rdma.memory.pinned.max", Bound.BYTES, "The most that may be registered", Tags.empty(),
                of -> RdmaMetrics.maxPinnedMemory());
        meters.gauge("netty.rdma.memory.staging", Bound.BYTES, "Registered memory for copies of what is sent",
                Tags.empty(), of -> RdmaMetrics.stagingMemory());
        meters.gauge("netty.rdma.memory.shared.receives", null, "Receives of the shared receive queues", Tags.empty(),
                of -> RdmaMetrics.sharedReceives());
        meters.gauge("netty.rdma.allocator.used", Bound.BYTES,
                "Memory of the default allocator that buffers and caches hold", Tags.empty(),
                of -> RdmaByteBufAllocator.DEFAULT.metric().usedDirectMemory());
        meters.counter("netty.rdma.allocator.fallbacks", null,
                "Buffers of the default allocator that came from ordinary memory", Tags.empty(),
                of -> RdmaByteBufAllocator.DEFAULT.fallbackAllocations());
    }

    private static void messages(Bound.Group<ProcessMeters> meters) {
        operations(meters, "send", RdmaMessageMetrics::sends, RdmaMessageMetrics::bytesSent);
        operations(meters, "write", RdmaMessageMetrics::writes, RdmaMessageMetrics::bytesWritten);
        operations(meters, "read", RdmaMessageMetrics::reads, RdmaMessageMetrics::bytesRead);
        operations(meters, "receive", RdmaMessageMetrics::receives, RdmaMessageMetrics::bytesReceived);
        operations(meters, "atomic", RdmaMessageMetrics::atomics, null);
        operations(meters, "window", RdmaMessageMetrics::windowOperations, null);
        meters.counter("netty.rdma.message.failures", null, "Operations of message channels that have failed",
                Tags.empty(), of -> RdmaMessageMetrics.total().failures());
        String posted = "In operations of message channels, by the way they go";
        meters.counter("netty.rdma.message.posted", Bound.BYTES, posted, way("in_place"),
                of -> RdmaMessageMetrics.total().bytesInPlace());
        meters.counter("netty.rdma.message.posted", Bound.BYTES, posted, way("inline"),
                of -> RdmaMessageMetrics.total().bytesInline());
        meters.counter("netty.rdma.message.posted", Bound.BYTES, posted, way("copied"),
                of -> RdmaMessageMetrics.total().bytesCopied());
        for (RdmaMessageMetrics.CopyCause cause : RdmaMessageMetrics.CopyCause.values()) {
            meters.counter("netty.rdma.message.copied", Bound.BYTES, "Copied by message channels, by cause",
                    Tags.of("cause", tag(cause)), of -> RdmaMessageMetrics.total().bytesCopied(cause));
        }
    }

    private static void operations(Bound.Group<ProcessMeters> meters, String operation,
                                   ToLongFunction<RdmaMessageMetrics> count, ToLongFunction<RdmaMessageMetrics> bytes) {
        Tags tags = Tags.of("operation", operation);
        meters.counter("netty.rdma.message.operations", null, "Operations of message and datagram channels", tags,
                of -> count.applyAsLong(RdmaMessageMetrics.total()));
        if (bytes != null) {
            meters.counter("netty.rdma.message.transferred", Bound.BYTES, "In operations of message channels", tags,
                    of -> bytes.applyAsLong(RdmaMessageMetrics.total()));
        }
    }

    private static void connects(Bound.Group<ProcessMeters> meters) {
        RdmaConnectMetrics connects = RdmaConnectMetrics.total();
        for (VerbsProvider provider : VerbsProvider.values()) {
            for (RdmaProviderChoice.Reason reason : RdmaProviderChoice.Reason.values()) {
                if (reason != RdmaProviderChoice.Reason.ACCEPTED) {
                    meters.counter("netty.rdma.connect.providers", null, "Connects that were made, by provider and why",
                            Tags.of("provider", tag(provider), "reason", tag(reason)),
                            of -> connects.connects(provider, reason));
                }
            }
            failures(meters, provider, tag(provider));
        }
        failures(meters, null, "none");
        for (RdmaConnectMetrics.Rejection reason : RdmaConnectMetrics.Rejection.values()) {
            meters.counter("netty.rdma.accept.rejections", null, "Requests of peers that were rejected",
                    Tags.of("reason", tag(reason)), of -> connects.rejections(reason));
        }
        meters.counter("netty.rdma.accept.vanished", null, "Peers that have gone before their connection was made",
                Tags.empty(), of -> connects.vanishedPeers());
    }

    /** @param provider of the last attempt, or {@code null}. */
    private static void failures(Bound.Group<ProcessMeters> meters, VerbsProvider provider, String name) {
        for (RdmaConnectMetrics.Failure reason : RdmaConnectMetrics.Failure.values()) {
            meters.counter("netty.rdma.connect.failures", null, "Connects that have failed",
                    Tags.of("provider", name, "reason", tag(reason)),
                    of -> RdmaConnectMetrics.total().failures(provider, reason));
        }
    }

    private static void transports(Bound.Group<ProcessMeters> meters) {
        RdmaOrTcpMetrics metrics = RdmaOrTcpMetrics.total();
        for (RdmaOrTcpTransport transport : RdmaOrTcpTransport.values()) {
            meters.counter("netty.rdma.transport.connects", null, "Connections that clients with a choice have made",
                    Tags.of("transport", tag(transport)), of -> metrics.connects(transport));
            meters.counter("netty.rdma.transport.accepts", null, "Connections that servers for both have accepted",
                    Tags.of("transport", tag(transport)), of -> metrics.accepts(transport));
        }
        meters.gauge("netty.rdma.transport.tcp.connections", null,
                "Connections over TCP that clients with a choice have now", Tags.empty(),
                of -> metrics.tcpConnections());
        for (RdmaOrTcpFallback.Reason reason : RdmaOrTcpFallback.Reason.values()) {
            meters.counter("netty.rdma.transport.fallbacks", null, "How often TCP was tried instead of RDMA",
                    Tags.of("reason", tag(reason)), of -> metrics.fallbacks(reason));
        }
        meters.counter("netty.rdma.transport.failures", null, "How often neither transport made a connection",
                Tags.empty(), of -> metrics.failures());
    }

    private static Tags way(String way) {
        return Tags.of("way", way);
    }

    private static String tag(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
