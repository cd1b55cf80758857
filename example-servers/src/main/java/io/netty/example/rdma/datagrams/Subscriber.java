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
package io.netty.example.rdma.datagrams;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.example.rdma.util.Pattern;
import io.netty.example.rdma.verbs.Result;

import java.net.InetAddress;
import java.net.SocketAddress;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;

/**
 * Answers the first publisher that it hears, checks the data, and reports how many have arrived. See the package
 * description.
 */
final class Subscriber extends DatagramEnd {
    /** Time after a publisher's last END until the subscriber ends: the publisher has the report then. */
    private static final long QUIET_MILLIS = 500;

    private static final long REPEAT_MILLIS = 50;
    /** Number of LEFTs without an answer after which the subscriber ends: the publisher may be gone. */
    private static final int MOST_REPEATS = 20;

    private final InetAddress group;
    private final int leaveAfter;
    private final BitSet received = new BitSet();
    /** The publisher, once this end has left. */
    private SocketAddress left;
    private int repeats;
    /** Number of the first datagram that was received, if this subscriber joined late. */
    private long first;
    private boolean called;
    private long run;
    private long total;
    private int size;
    private long again;
    private long firstNanos;
    private long lastNanos;

    /** @param leaveAfter number of datagrams after which the subscriber leaves the group, or 0 */
    Subscriber(InetAddress group, int leaveAfter) {
        this.group = group;
        this.leaveAfter = leaveAfter;
    }

    @Override
    void begin(ChannelHandlerContext ctx) {
        System.out.println("joined, waiting for a publisher");
    }

    @Override
    void received(ChannelHandlerContext ctx, Packet packet, SocketAddress sender) {
        if (!called && (packet.type() == Packet.Type.CALL || packet.type() == Packet.Type.DATA)) {
            called = true;
            run = packet.run();
            if (packet.type() == Packet.Type.DATA) {
                // The publisher has begun without this subscriber, but wants its report.
                first = packet.number();
                repeat(ctx, () -> send(ctx, Packet.Type.HERE, run, 0, sender), REPEAT_MILLIS);
            }
        }
        if (!called || packet.run() != run) {
            return;
        }
        if (left != null) {
            if (packet.type() == Packet.Type.END) {
                finishLeft(ctx);
            }
            return;
        }
        switch (packet.type()) {
        case CALL -> send(ctx, Packet.Type.HERE, run, 0, sender);
        case DATA -> {
            data(packet);
            if (leaveAfter > 0 && received.cardinality() == leaveAfter) {
                leave(ctx, sender);
            }
        }
        case END -> {
            total = packet.number();
            send(ctx, Packet.Type.REPORT, run, received.cardinality(), sender);
            finishWhenQuiet(ctx);
        }
        default -> {
            // Reports of other subscribers go to another queue pair.
            wrong++;
        }
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

    private void leave(ChannelHandlerContext ctx, SocketAddress publisher) {
        left = publisher;
        cancel();
        ((RdmaDatagramChannel) ctx.channel()).leaveGroup(group).addListener(done -> {
            if (done.isSuccess()) {
                sayLeft(ctx);
            } else {
                exceptionCaught(ctx, done.cause());
            }
        });
    }

    private void sayLeft(ChannelHandlerContext ctx) {
        if (!ctx.channel().isOpen()) {
            return;
        }
        if (repeats++ == MOST_REPEATS) {
            finishLeft(ctx);
            return;
        }
        send(ctx, Packet.Type.LEFT, run, received.cardinality(), left);
        ctx.executor().schedule(() -> sayLeft(ctx), REPEAT_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void finishLeft(ChannelHandlerContext ctx) {
        finish(ctx, new Result("subscribed, and left in the middle", received.cardinality(), size, wrong,
                lastNanos - firstNanos));
    }

    private void finishWhenQuiet(ChannelHandlerContext ctx) {
        later(ctx, () -> {
            int count = received.cardinality();
            // Losses are expected of datagrams, but a subscriber that has received nothing has failed.
            finish(ctx, new Result("subscribed, " + (total - first - count) + " of " + (total - first) + " lost, "
                    + again + " twice", count, size, count == 0 && total > 0 ? wrong + 1 : wrong,
                    lastNanos - firstNanos));
        }, QUIET_MILLIS);
    }
}
