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
package io.netty.example.rdma.multicast;

import io.netty.channel.ChannelHandlerContext;
import io.netty.example.rdma.util.Pattern;
import io.netty.example.rdma.verbs.Result;
import io.netty.util.concurrent.Future;

import java.net.SocketAddress;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;

/**
 * Answers the first publisher that calls, checks what it sends, and tells it how much that was. See the package
 * description.
 */
final class Subscriber extends MulticastEnd {
    /** So long after the last end of a publisher it has the report. */
    private static final long QUIET_MILLIS = 500;

    private final BitSet received = new BitSet();
    private boolean called;
    private long run;
    private long total;
    private int size;
    private long again;
    private long wrong;
    private long firstNanos;
    private long lastNanos;
    private Future<?> quiet;

    @Override
    void joined(ChannelHandlerContext ctx) {
        System.out.println("joined, waiting for a publisher");
    }

    @Override
    void received(ChannelHandlerContext ctx, Packet packet, SocketAddress sender) {
        if (!called && packet.type() == Packet.Type.CALL) {
            called = true;
            run = packet.run();
        }
        if (!called || packet.run() != run) {
            return;
        }
        switch (packet.type()) {
        case CALL:
            send(ctx, Packet.Type.HERE, run, 0, sender);
            break;
        case DATA:
            data(packet);
            break;
        case END:
            total = packet.number();
            send(ctx, Packet.Type.REPORT, run, received.cardinality(), sender);
            finishWhenQuiet(ctx);
            break;
        default:
            // A report of another subscriber goes to another queue pair.
            wrong++;
        }
    }

    private void data(Packet packet) {
        lastNanos = System.nanoTime();
        if (received.isEmpty()) {
            firstNanos = lastNanos;
            size = packet.data().readableBytes();
        }
        if (packet.number() > Integer.MAX_VALUE || packet.data().readableBytes() != size ||
                !Pattern.matches(packet.data(), packet.number() * size)) {
            wrong++;
        } else if (received.get((int) packet.number())) {
            again++;
        } else {
            received.set((int) packet.number());
        }
    }

    @Override
    void damaged(IllegalArgumentException what) {
        System.err.println(what.getMessage());
        wrong++;
    }

    private void finishWhenQuiet(ChannelHandlerContext ctx) {
        if (quiet != null) {
            quiet.cancel(false);
        }
        quiet = ctx.executor().schedule(() -> {
            int count = received.cardinality();
            // Losses are what datagrams are about; a subscriber that has got nothing was none.
            finish(ctx, new Result("subscribed, " + (total - count) + " of " + total + " lost, " + again + " twice",
                    count, size, count == 0 && total > 0 ? wrong + 1 : wrong, lastNanos - firstNanos));
        }, QUIET_MILLIS, TimeUnit.MILLISECONDS);
    }
}
