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
package io.netty.example.rdma.pingpong;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Counts;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.NumberedData;
import io.netty.example.rdma.verbs.OperationTimes;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Common part of all ends. A message is a number: a negative one from the end that measures says that it is done, and
 * after how many round trips; others are the business of the mode, as are messages that carry data. In the end each
 * tells the other what it has counted.
 */
abstract class PingPongEnd extends VerbsEnd {
    private static final long MAX_LATE_NANOS = TimeUnit.SECONDS.toNanos(2);

    protected final Game game;
    protected final boolean client;
    /** Written to and read by the peer. */
    protected RegisteredMemory memory;
    protected NumberedData data;
    protected ChannelHandlerContext ctx;
    protected RemoteMemory remote;
    private final OperationTimes times;
    /** Round trips, those before the ones that count, too. */
    private long done;
    private long pingNanos;
    private long wrong;
    private long lateSinceNanos;
    /** Counts that this end has sent to the other one. */
    private Counts counts;

    PingPongEnd(Game game, boolean client) {
        super(game.toString());
        this.game = game;
        this.client = client;
        times = new OperationTimes(game.count(), game.warmUp());
    }

    static PingPongEnd create(Game game, boolean client) {
        return switch (game.mode()) {
        case WRITE -> new WritingEnd(game, client);
        case READ -> new ReadingEnd(game, client);
        case READ_ONLY -> new PollingEnd(game, client);
        case SEND -> new SendingEnd(game, client);
        case WRITE_ACK, WRITE_IMM -> new NotifyingEnd(game, client);
        case SCAN -> new ScanningEnd(game, client);
        default -> game.mode().isDrivenBy(client) ? new DrivingEnd(game, client) : new PassiveEnd(game, client);
        };
    }

    @Override
    protected final List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        data = new NumberedData(game.size());
        whenClosed(data::close);
        memory = game.memory();
        whenClosed(memory::close);
        prepare();
        return List.of(channel.export(memory));
    }

    @Override
    protected final void begin(ChannelHandlerContext context, Introduction peer) {
        ctx = context;
        remote = peer.memory(0, game.size());
        times.begin();
        begin();
    }

    /** There is memory, which the peer does not know yet. */
    void prepare() {
        // Most don't look at it before there was something written.
    }

    /** The peer's memory is known, and ours to it. */
    abstract void begin();

    /** A message of the peer that is not the last one. */
    void message(long number) {
        throw new IllegalArgumentException("the peer sent the number " + number
                + " (expected: only a negative one in this mode)");
    }

    /** Returns whether a message of the peer carries data, and is for {@link #data}. */
    boolean isData(RdmaReceive message) {
        return false;
    }

    /** Data of the peer, which are released after this. */
    void data(RdmaReceive message) {
        throw new IllegalStateException("not expected: " + message);
    }

    @Override
    protected final void channelRead0(ChannelHandlerContext context, RdmaReceive message) {
        if (isData(message)) {
            data(message);
            return;
        }
        if (Counts.isIn(message)) {
            end(Counts.read(message));
            return;
        }
        long number = NumberMessage.read(message);
        if (number >= 0) {
            message(number);
        } else if (game.mode().isDrivenBy(client)) {
            throw new IllegalArgumentException("the peer says that it is done, which is for this end to say");
        } else {
            count(counted(-number));
        }
    }

    /**
     * Number of round trips that a passive end has seen, if it sees any.
     *
     * @param told what the other end says
     */
    long counted(long told) {
        return told;
    }

    private void count(long done) {
        counts = new Counts(done, wrong);
        writeAndFlush(ctx, counts.message(ctx.alloc()));
    }

    /** The peer has counted, too. */
    private void end(Counts peer) {
        if (counts == null) {
            throw new IllegalArgumentException("the peer has counted before the end");
        }
        System.out.println(counts.with(peer));
        finish(ctx, "ping-pong " + game.mode(), counts.done(), game.size(), wrong);
    }

    /** Flushes, too. */
    final void send(long number) {
        writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), number));
    }

    final boolean isRight(ByteBuf buf, long number) {
        return game.check() ? NumberedData.matches(buf, number)
                : buf.getLong(buf.writerIndex() - Long.BYTES) == data.message(number)
                        .getLong(game.size() - Long.BYTES);
    }

    /**
     * Returns whether all bytes of a round trip are there, whose last 8 are. Those that are still old may come later:
     * nothing promises that they come in the order of their addresses. If they are not there for long, they are wrong,
     * and this returns {@code true}.
     */
    final boolean isComplete(ByteBuf bytes, long number) {
        if (!game.check() || isRight(bytes, number)) {
            lateSinceNanos = 0;
            return true;
        }
        long now = System.nanoTime();
        if (lateSinceNanos == 0) {
            lateSinceNanos = now;
        }
        if (now - lateSinceNanos < MAX_LATE_NANOS) {
            return false;
        }
        lateSinceNanos = 0;
        wrong();
        return true;
    }

    final void wrong() {
        wrong++;
    }

    /** A round trip begins here. */
    final void pinged() {
        pingNanos = System.nanoTime();
    }

    /** And ends, at the end that measures. Returns whether there is another one. */
    final boolean ponged() {
        done++;
        if (!times.ended(1, pingNanos)) {
            return true;
        }
        told(times.windows());
        System.out.println(times.measurement(game.name(), 0));
        send(-done);
        count(done);
        return false;
    }

    /**
     * Has memory. Its process notices nothing of what the peer does there, until the peer says that it is done.
     */
    private static final class PassiveEnd extends PingPongEnd {
        PassiveEnd(Game game, boolean client) {
            super(game, client);
        }

        @Override
        void begin() {
            // The peer needs only the memory of this end.
        }

        @Override
        protected boolean isPassive() {
            return true;
        }
    }
}
