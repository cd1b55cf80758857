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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.example.rdma.util.Pattern;
import io.netty.example.rdma.verbs.Result;

import java.net.SocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Calls the subscribers, sends the data, and collects the reports. See the package description.
 */
class Publisher extends DatagramEnd {
    private static final long NOT_REPORTED = -1;
    private static final long REPEAT_MILLIS = 50;
    private static final long TICK_MILLIS = 1;
    /** Number of ENDs after which a subscriber without a report is gone. */
    private static final int MOST_ENDS = 100;

    private final SocketAddress group;
    private final int expected;
    private final long count;
    private final long rate;
    private final long run = ThreadLocalRandom.current().nextLong();
    /** Number of datagrams that each subscriber has received. */
    private final Map<SocketAddress, Long> subscribers = new LinkedHashMap<>();
    private final ByteBuf data = Unpooled.buffer();
    private int size;
    private long startNanos;
    private long endNanos;
    private long sent;
    private int ends;

    /**
     * @param expected how many subscribers to wait for
     * @param size     bytes of data in a datagram, if it has room for so many
     * @param rate     datagrams a second
     */
    Publisher(SocketAddress group, int expected, long count, int size, long rate) {
        this.group = group;
        this.expected = expected;
        this.count = count;
        this.size = size;
        this.rate = rate;
    }

    @Override
    void begin(ChannelHandlerContext ctx) {
        size = Math.min(size, ((RdmaDatagramChannel) ctx.channel()).maxPayload() - Packet.HEADER_LENGTH);
        repeat(ctx, () -> send(ctx, Packet.Type.CALL, run, 0, group), REPEAT_MILLIS);
    }

    @Override
    void received(ChannelHandlerContext ctx, Packet packet, SocketAddress sender) {
        if (packet.run() != run) {
            return;
        }
        if (packet.type() == Packet.Type.HERE) {
            subscribers.putIfAbsent(sender, NOT_REPORTED);
            if (startNanos == 0 && subscribers.size() == expected) {
                startNanos = System.nanoTime();
                repeat(ctx, () -> sendDue(ctx), TICK_MILLIS);
            }
        } else if (packet.type() == Packet.Type.LEFT) {
            subscribers.put(sender, packet.number());
            send(ctx, Packet.Type.END, run, sent, sender);
        } else if (packet.type() == Packet.Type.REPORT && sent == count) {
            subscribers.put(sender, packet.number());
        }
    }

    @Override
    void damaged(IllegalArgumentException what) {
        // Such a datagram is not from a subscriber.
    }

    /** Sends as many datagrams as the rate allows by now, while the channel is writable. */
    private void sendDue(ChannelHandlerContext ctx) {
        long due = Math.min(count, due(System.nanoTime() - startNanos));
        while (sent < due && ctx.channel().isWritable()) {
            data.clear();
            Pattern.write(data, sent * size, size);
            send(ctx, new Packet(Packet.Type.DATA, run, sent, data), group);
            sent++;
        }
        ctx.flush();
        if (sent == count) {
            endNanos = System.nanoTime();
            repeat(ctx, () -> end(ctx), REPEAT_MILLIS);
        }
    }

    /** Number of datagrams that are due after this time. */
    long due(long nanos) {
        return 1 + (long) (nanos / 1e9 * rate);
    }

    private void end(ChannelHandlerContext ctx) {
        if (!subscribers.containsValue(NOT_REPORTED) || ends++ == MOST_ENDS) {
            done(ctx);
        } else {
            send(ctx, Packet.Type.END, run, count, group);
        }
    }

    private void done(ChannelHandlerContext ctx) {
        cancel();
        subscribers.forEach((subscriber, got) -> System.out.println(subscriber + ": "
                + (got == NOT_REPORTED ? "gone without a report" : got + " of " + count + " datagrams")));
        finish(ctx, new Result("published to " + subscribers.size() + " subscribers", count, size, 0,
                endNanos - startNanos));
    }
}
