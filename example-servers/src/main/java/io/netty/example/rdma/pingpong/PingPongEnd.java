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
 * Common part of all ends. A message is a number. A negative number comes from the end that measures: it is done, after
 * so many round trips. The mode defines the other numbers, and messages that carry data. In the end each end tells the
 * other one its counts.
 */
abstract class PingPongEnd extends VerbsEnd {
    private static final long MAX_LATE_NANOS = TimeUnit.SECONDS.toNanos(2);

    protected final Game game;
    protected final boolean client;
    /** Memory that the peer writes to and reads. */
    protected RegisteredMemory memory;
    protected NumberedData data;
    protected ChannelHandlerContext ctx;
    protected RemoteMemory remote;
    private final OperationTimes times;
    /** Number of round trips, those of the warm-up included. */
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

    /** Prepares the memory, which the peer does not know yet. */
    void prepare() {
        // In most modes nothing reads the memory before something was written.
    }

    /** Begins: each end knows the memory of the other one. */
    abstract void begin();

    /** Handles a number of the peer that is not negative. */
    void message(long number) {
        throw new IllegalArgumentException("the peer sent the number " + number
                + " (expected: only a negative one in this mode)");
    }

    /** Returns whether a message of the peer carries data, and is for {@link #data}. */
    boolean isData(RdmaReceive message) {
        return false;
    }

    /** Handles data of the peer, which are released afterwards. */
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
     * Number of round trips that this end has counted.
     *
     * @param told the count of the end that measures, for an end that sees no round trips
     */
    long counted(long told) {
        return told;
    }

    private void count(long done) {
        counts = new Counts(done, wrong);
        writeAndFlush(ctx, counts.message(ctx.alloc()));
    }

    /** Compares the peer's counts, and finishes. */
    private void end(Counts peer) {
        if (counts == null) {
            throw new IllegalArgumentException("the peer has counted before the end");
        }
        System.out.println(counts.with(peer));
        finish(ctx, "ping-pong " + game.mode(), counts.done(), game.size(), wrong);
    }

    /** Sends a number, with a flush. */
    final void send(long number) {
        writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), number));
    }

    final boolean isRight(ByteBuf buf, long number) {
        return game.check() ? NumberedData.matches(buf, number)
                : buf.getLong(buf.writerIndex() - Long.BYTES) == data.message(number)
                        .getLong(game.size() - Long.BYTES);
    }

    /**
     * Returns whether all bytes of a round trip have arrived; the last 8 have. Bytes that are still old may come later:
     * nothing guarantees that bytes arrive in the order of their addresses. If they do not come for a long time, they
     * count as wrong, and this returns {@code true}.
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

    /** Begins a round trip. */
    final void pinged() {
        pingNanos = System.nanoTime();
    }

    /** Ends a round trip, at the end that measures. Returns whether there is another one. */
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
     * End that only has memory. Its process does not notice the peer's operations, until the peer says that it is done.
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
