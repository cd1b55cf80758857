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
package io.netty.channel.rdma.differential;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.differential.Program.Pipeline;
import io.netty.channel.rdma.differential.Program.Setup;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Makes the program of a seed: phases with some traffic, each of which ends when everything has arrived, and an end of
 * the connection, before or after what is under way has arrived.
 */
final class Generator {
    private static final int LARGEST = (4 << 20) / TestTimeouts.MULTIPLIER;
    private static final int MAX_BYTES = (12 << 20) / TestTimeouts.MULTIPLIER;
    private static final Source[] BUFFERS =
            { Source.ALLOCATOR, Source.GROWN, Source.HEAP, Source.DIRECT, Source.POOLED };
    /** The one that programs begin with; the transports' own differ. */
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(32 << 10, 64 << 10);

    private final SplittableRandom random;
    private final long seed;
    private final List<Step> steps = new ArrayList<>();
    private final Map<Side, Sender> senders = new EnumMap<>(Side.class);
    private Pipeline pipeline;
    private int nextId = 1;
    private int budget = MAX_BYTES;

    /** Announced writes of an end. */
    private static final class Sender {
        int bytes;
        boolean unflushed;
        boolean holds;
        boolean reads = true;
    }

    private Generator(long seed) {
        this.seed = seed;
        random = new SplittableRandom(seed);
        for (Side side : Side.values()) {
            senders.put(side, new Sender());
        }
    }

    static Program program(long seed) {
        return new Generator(seed).program();
    }

    private Program program() {
        pipeline = chance(60) ? Pipeline.PLAIN : one(Pipeline.values());
        Map<ChannelOption<?>, Object> client = options(Side.CLIENT);
        Map<ChannelOption<?>, Object> server = options(Side.SERVER);
        Setup setup = new Setup(!chance(2), chance(30), pipeline, client, server, rdmaOptions());
        if (chance(8) && pipeline != Pipeline.TLS) {
            atTheBeginning();
        }
        int phases = random.nextInt(chance(20) ? 8 : 4);
        boolean bursts = chance(15);
        for (int i = 0; i < phases; i++) {
            if (bursts) {
                burst();
            } else {
                phase();
            }
        }
        if (!chance(10)) {
            end();
        }
        return new Program(seed, setup, steps);
    }

    // ---- options

    private Map<ChannelOption<?>, Object> options(Side side) {
        Map<ChannelOption<?>, Object> options = new HashMap<>();
        options.put(ChannelOption.WRITE_BUFFER_WATER_MARK, chance(70) ? WATER_MARK : waterMark());
        options.put(ChannelOption.ALLOW_HALF_CLOSURE, random.nextBoolean());
        maybe(options, 10, ChannelOption.AUTO_READ, false);
        if (pipeline == Pipeline.TLS) {
            // A handshake reads, and epoll forgets a read() that is pending when a channel moves: it would time out.
            options.remove(ChannelOption.AUTO_READ);
        } else if (Boolean.FALSE.equals(options.get(ChannelOption.AUTO_READ))) {
            senders.get(side).reads = false;
        }
        maybe(options, 20, ChannelOption.SO_RCVBUF, 1 << 12 + random.nextInt(11));
        maybe(options, 20, ChannelOption.SO_SNDBUF, 1 + random.nextInt(1 << 20));
        maybe(options, 20, ChannelOption.WRITE_SPIN_COUNT, 1 + random.nextInt(16));
        maybe(options, 10, ChannelOption.ALLOCATOR, random.nextBoolean() ? PooledByteBufAllocator.DEFAULT
                : UnpooledByteBufAllocator.DEFAULT);
        if (chance(20)) {
            options.put(ChannelOption.RECVBUF_ALLOCATOR, (random.nextBoolean()
                    ? new FixedRecvByteBufAllocator(1 + random.nextInt(1 << 14))
                    : new AdaptiveRecvByteBufAllocator(64, 1024, 1 << 16)).maxMessagesPerRead(1 + random.nextInt(32)));
        }
        return options;
    }

    private WriteBufferWaterMark waterMark() {
        // With 0, a channel that was not writable once never is again.
        int low = 1 + size(1 << 18);
        return new WriteBufferWaterMark(low, low + size(1 << 18));
    }

    private Map<ChannelOption<?>, Object> rdmaOptions() {
        Map<ChannelOption<?>, Object> options = new HashMap<>();
        // The clock of what is done when nothing arrives.
        maybe(options, 60, RdmaChannelOption.RECEIVE_BUFFER_IDLE_MILLIS, 10 + random.nextInt(30));
        maybe(options, 10, RdmaChannelOption.SEND_QUEUE_DEPTH, 16);
        maybe(options, 10, RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16);
        maybe(options, 10, RdmaChannelOption.MAX_INLINE, random.nextInt(256));
        maybe(options, 10, RdmaChannelOption.SEND_COPY_THRESHOLD, random.nextInt(4096));
        maybe(options, 10, RdmaChannelOption.RECEIVE_COPY_THRESHOLD, random.nextInt(4096));
        return options;
    }

    private void maybe(Map<ChannelOption<?>, Object> options, int percent, ChannelOption<?> option, Object value) {
        if (chance(percent)) {
            options.put(option, value);
        }
    }

    // ---- the beginning

    /** Something happens as soon as the channel exists. */
    private void atTheBeginning() {
        Side side = side();
        Trigger trigger = new Trigger(chance(30) ? Trigger.Kind.REGISTERED : Trigger.Kind.ACTIVE, 0);
        List<Step.Local> reaction = new ArrayList<>();
        if (trigger.kind() == Trigger.Kind.ACTIVE && chance(70)) {
            reaction.add(write(side, size(70_000), true));
        }
        if (reaction.isEmpty() || chance(40)) {
            reaction.add(closeOrReset(side));
        }
        steps.add(new Step.On(side, trigger, reaction));
    }

    private Step.Local closeOrReset(Side side) {
        return chance(70) ? new Step.Close(side, nextId++) : new Step.Reset(side, nextId++);
    }

    // ---- traffic

    private void phase() {
        int count = 1 + random.nextInt(6);
        for (int i = 0; i < count; i++) {
            steps.add(step());
        }
        for (Side side : Side.values()) {
            flush(side);
            if (!senders.get(side).reads && chance(80)) {
                read(side);
            }
        }
        steps.add(new Step.Sync());
        if (chance(15)) {
            steps.add(new Step.Idle(1 + random.nextInt(60)));
        }
    }

    private void flush(Side side) {
        if (senders.get(side).unflushed) {
            senders.get(side).unflushed = false;
            steps.add(new Step.Flush(side));
        }
    }

    private void read(Side side) {
        senders.get(side).reads = true;
        steps.add(chance(70) ? new Step.AutoRead(side, true) : new Step.ReadByHand(side));
    }

    /** More than the memory has room for, some of it held; then time for it to shrink. */
    private void burst() {
        Side side = chance(80) ? Side.CLIENT : Side.SERVER;
        Side reader = side.other();
        if (chance(30)) {
            hold(reader);
        }
        int count = 1 + random.nextInt(4);
        for (int i = 0; i < count; i++) {
            steps.add(write(side, size(LARGEST), true));
        }
        if (!senders.get(reader).reads) {
            read(reader);
        }
        steps.add(new Step.Sync());
        if (chance(50)) {
            release(reader);
        }
        steps.add(new Step.Idle(10 + random.nextInt(60)));
    }

    private void hold(Side side) {
        senders.get(side).holds = true;
        steps.add(new Step.Hold(side, true));
    }

    private void release(Side side) {
        senders.get(side).holds = false;
        steps.add(new Step.Hold(side, false));
        steps.add(chance(50) ? new Step.ReleaseHeld(side) : new Step.ReleaseHeldOutside(side));
    }

    private Step step() {
        Side side = side();
        Sender sender = senders.get(side);
        switch (random.nextInt(16)) {
        case 0:
        case 1:
        case 2:
            return write(side, size(LARGEST), chance(60));
        case 3:
            return new Step.WriteFromOutside(side, nextId++, source(), sent(side, size(LARGEST)));
        case 4:
        case 5:
            return parts(side);
        case 6:
            return new Step.WriteAndReuse(side, nextId++, one(BUFFERS), sent(side, size(LARGEST)));
        case 7:
            return together(side);
        case 8:
            return cancelled(side);
        case 9:
            return heldUp(side);
        case 10:
            return on(side);
        case 11:
            if (sender.reads) {
                sender.reads = false;
                return new Step.AutoRead(side, false);
            }
            return chance(50) ? new Step.ReadOnce(side) : resume(side);
        case 12:
            if (!sender.holds) {
                sender.holds = true;
                return new Step.Hold(side, true);
            }
            if (chance(50)) {
                // The held bytes are known only when everything has arrived.
                steps.add(new Step.Sync());
                return new Step.WriteHeld(side, nextId++, sent(side, size(1 << 18)));
            }
            sender.holds = false;
            steps.add(new Step.Hold(side, false));
            return new Step.ReleaseHeld(side);
        case 13:
            return option(side);
        case 14:
            return new Step.Move(side, random.nextInt(Transport.LOOPS));
        default:
            return chance(70) ? new Step.Sync() : new Step.Idle(1 + random.nextInt(15));
        }
    }

    private Step resume(Side side) {
        senders.get(side).reads = true;
        return chance(70) ? new Step.AutoRead(side, true) : new Step.ReadByHand(side);
    }

    private Step.Write write(Side side, int length, boolean mayFlush) {
        // Other handlers flush when it suits them, SslHandler for example.
        boolean flush = mayFlush || pipeline != Pipeline.PLAIN;
        if (!flush) {
            senders.get(side).unflushed = true;
        }
        return new Step.Write(side, nextId++, source(), sent(side, length), flush);
    }

    private int sent(Side side, int length) {
        int bounded = Math.min(length, budget);
        budget -= bounded;
        senders.get(side).bytes += bounded;
        return bounded;
    }

    private Step.WriteParts parts(Side side) {
        int pieces = 1 + random.nextInt(chance(80) ? 4 : 40);
        int length = sent(side, size(LARGEST)) / pieces;
        Step.WriteParts parts =
                new Step.WriteParts(side, nextId, pieces, length, chance(80), one(Step.Change.values()));
        nextId += pieces;
        return parts;
    }

    private Step.Together together(Side side) {
        List<Step.Local> together = new ArrayList<>();
        int count = 2 + random.nextInt(6);
        for (int i = 0; i < count; i++) {
            together.add(local(side));
        }
        return new Step.Together(side, together);
    }

    private Step.Local local(Side side) {
        switch (random.nextInt(6)) {
        case 0:
            return parts(side);
        case 1:
            senders.get(side).unflushed = false;
            return new Step.Flush(side);
        case 2:
            return new Step.WriteAndReuse(side, nextId++, one(BUFFERS), sent(side, size(1 << 17)));
        default:
            return write(side, size(1 << 19), chance(40));
        }
    }

    /** A write that is cancelled before it is flushed. Pipelines that flush by themselves may be faster. */
    private Step.Local cancelled(Side side) {
        if (pipeline != Pipeline.PLAIN) {
            return local(side);
        }
        List<Step.Local> together = new ArrayList<>();
        int count = 1 + random.nextInt(4);
        int firstId = nextId;
        for (int i = 0; i < count; i++) {
            together.add(write(side, chance(30) ? 0 : size(1 << 18), false));
        }
        for (int id = firstId; id < firstId + count; id++) {
            if (chance(60)) {
                together.add(new Step.Cancel(side, id));
            }
        }
        if (chance(70)) {
            together.add(new Step.Flush(side));
        }
        return new Step.Together(side, together);
    }

    private Step heldUp(Side side) {
        List<Step.Local> during = new ArrayList<>();
        int count = 1 + random.nextInt(4);
        for (int i = 0; i < count; i++) {
            during.add(local(side));
        }
        return new Step.WhileHeldUp(side.other(), during);
    }

    /** Writes from inside of a handler or of a listener. */
    private Step on(Side side) {
        List<Step.Local> reaction = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            // The last one is flushed: when the reaction runs, compared to the steps that follow, is not said.
            reaction.add(write(side, size(1 << 17), i == count - 1 || chance(60)));
        }
        Sender peer = senders.get(side.other());
        if (chance(50) && pipeline == Pipeline.PLAIN) {
            int id = nextId++;
            steps.add(new Step.On(side, new Trigger(Trigger.Kind.WRITTEN, id), reaction));
            return new Step.Write(side, id, source(), sent(side, size(1 << 18)), true);
        }
        steps.add(new Step.Sync());
        int length = sent(side.other(), 1 + size(1 << 18));
        if (length == 0) {
            return new Step.Sync();
        }
        steps.add(new Step.On(side, new Trigger(Trigger.Kind.RECEIVED, peer.bytes - random.nextInt(length)), reaction));
        return new Step.Write(side.other(), nextId++, source(), length, true);
    }

    private Step option(Side side) {
        switch (random.nextInt(5)) {
        case 0:
            return new Step.SetOption(side, ChannelOption.WRITE_BUFFER_WATER_MARK, waterMark());
        case 1:
            return new Step.SetOption(side, ChannelOption.SO_RCVBUF, 1 << 12 + random.nextInt(11));
        case 2:
            return new Step.SetOption(side, ChannelOption.SO_SNDBUF, 1 + random.nextInt(1 << 20));
        case 3:
            return new Step.SetOption(side, ChannelOption.WRITE_SPIN_COUNT, 1 + random.nextInt(16));
        default:
            return new Step.SetOption(side, ChannelOption.ALLOW_HALF_CLOSURE, random.nextBoolean());
        }
    }

    // ---- the end

    private void end() {
        Side side = side();
        Side other = side.other();
        boolean inOrder = chance(60);
        if (chance(20)) {
            steps.add(reactionAtTheEnd(other));
        }
        if (chance(20)) {
            stall(side);
        } else if (inOrder) {
            settle();
        } else {
            traffic(side);
            if (chance(40)) {
                traffic(other);
            }
        }
        switch (random.nextInt(8)) {
        case 0:
        case 1:
            steps.add(new Step.Close(side, nextId++));
            break;
        case 2:
            steps.add(new Step.Reset(side, nextId++));
            break;
        case 3:
            steps.add(new Step.Close(side, nextId++));
            steps.add(closeOrReset(other));
            break;
        case 4:
            steps.add(new Step.Together(side, List.of(write(side, size(1 << 16), true), closeOrReset(side),
                    write(side, size(100), true))));
            break;
        case 5:
            steps.add(new Step.ShutdownInput(side, nextId++));
            break;
        default:
            steps.add(new Step.ShutdownOutput(side, nextId++));
            steps.add(write(side, size(100), true));
            steps.add(new Step.AwaitEnd(other));
            steps.add(write(other, size(1 << 18), true));
            if (inOrder) {
                steps.add(new Step.Sync());
            }
            steps.add(chance(60) ? closeOrReset(other) : new Step.ShutdownOutput(other, nextId++));
            break;
        }
        if (chance(20)) {
            steps.add(new Step.Move(side(), random.nextInt(Transport.LOOPS)));
        }
        steps.add(new Step.AwaitEnd(other));
        if (chance(30)) {
            steps.add(write(other, size(1 << 16), true));
            steps.add(write(side, size(1 << 16), true));
        }
    }

    private Step.On reactionAtTheEnd(Side side) {
        Trigger.Kind kind = chance(70) ? Trigger.Kind.END_OF_INPUT : Trigger.Kind.INACTIVE;
        return new Step.On(side, new Trigger(kind, 0), List.of(
                chance(60) ? write(side, size(1 << 16), true) : new Step.Close(side, nextId++),
                new Step.Close(side, nextId++)));
    }

    /** The other end has more to send than fits anywhere, as this one does not read. */
    private void stall(Side side) {
        settle();
        steps.add(new Step.SetOption(side, ChannelOption.SO_RCVBUF, 1 << 17));
        steps.add(new Step.SetOption(side.other(), ChannelOption.SO_SNDBUF, 1 << 17));
        steps.add(new Step.AutoRead(side, false));
        senders.get(side).reads = false;
        for (int i = random.nextInt(3); i >= 0; i--) {
            steps.add(new Step.Write(side.other(), nextId++, source(), LARGEST, true));
        }
    }

    private void settle() {
        for (Side side : Side.values()) {
            flush(side);
            if (!senders.get(side).reads) {
                read(side);
            }
        }
        steps.add(new Step.Sync());
    }

    private void traffic(Side side) {
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            steps.add(local(side));
        }
    }

    // ---- choices

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }

    /** TLS encrypts buffers only. */
    private Source source() {
        Source source = one(Source.values());
        return pipeline == Pipeline.TLS && source == Source.FILE ? Source.ALLOCATOR : source;
    }

    private Side side() {
        return random.nextBoolean() ? Side.CLIENT : Side.SERVER;
    }

    @SafeVarargs
    private <T> T one(T... all) {
        return all[random.nextInt(all.length)];
    }

    /** Any order of magnitude up to this is as likely as any other. */
    private int size(int max) {
        if (chance(3)) {
            return 0;
        }
        int bits = 1 + random.nextInt(32 - Integer.numberOfLeadingZeros(max));
        return Math.min(max, random.nextInt(1 << Math.min(bits, 30)));
    }
}
