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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.concurrent.Future;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One end of a connection: does what steps say, and records what it sees. The handler next to the application's side of
 * the pipeline.
 */
final class End extends ChannelDuplexHandler {
    private static final byte USED_AGAIN = (byte) 0xee;
    private static final String READS = "reads";
    private static final int WRITABILITY_TURNS = 100;

    final Side side;
    private final Run run;
    private final Transport transport;
    private final List<Step.On> reactions = new ArrayList<>();
    private final Map<Integer, Write> writes = new ConcurrentHashMap<>();
    private final Map<ChannelPromise, Write> promises = new ConcurrentHashMap<>();
    /** In the order in which they came to the handler. */
    private final List<Write> sent = new ArrayList<>();
    private final Map<String, String> operations = new HashMap<>();
    private final List<String> events = new ArrayList<>();
    private final List<Held> held = new ArrayList<>();
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();

    private volatile Channel channel;
    private volatile int receivedBytes;
    private volatile boolean active;
    private volatile boolean moving;
    private volatile boolean inputEnded;
    private volatile boolean inputEndedByUs;
    private volatile boolean ending;
    private volatile boolean reading = true;
    private volatile boolean lastWritable = true;
    private boolean byHand;
    private boolean holding;
    private int flushed;

    End(Side side, Run run, Transport transport, boolean autoRead) {
        this.side = side;
        this.run = run;
        this.transport = transport;
        reading = autoRead;
    }

    /** @param content what it consists of. */
    private record Write(int id, byte[] content, ChannelPromise promise) {
        boolean isLost() {
            return promise.isDone() && !promise.isSuccess();
        }
    }

    private record Held(ByteBuf buf, byte[] content) { }

    // ---- what the driver asks

    Channel channel() {
        return channel;
    }

    DuplexChannel socket() {
        return (DuplexChannel) channel;
    }

    /** Runs on the event loop of the channel, if there is one, and waits for that. */
    void call(Runnable task) throws Exception {
        if (channel != null) {
            channel.eventLoop().submit(task).get(Run.WAIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    boolean isActive() {
        return active;
    }

    boolean isClosed() {
        return channel == null || !channel.isOpen();
    }

    boolean isUnregistered() {
        return channel == null || !channel.isRegistered();
    }

    /** Returns whether this end reads whatever comes. */
    boolean isReading() {
        return reading && isInputOpen();
    }

    private boolean isInputOpen() {
        return !inputEndedByUs && !isEnded();
    }

    /** Returns whether it is known here that the other end has ended its output, or the connection is closed. */
    boolean isEnded() {
        return inputEnded || isClosed();
    }

    /** Returns whether this end has ended its output, or the connection. */
    boolean isEnding() {
        return ending || isClosed();
    }

    /** Returns whether this end does not want to know what the other one sends. */
    boolean hasShutInput() {
        return inputEndedByUs;
    }

    /** Returns whether all that this end has flushed has arrived. */
    boolean isQuiet(End other) {
        return other.receivedBytes() >= expectedBytes() && areFlushedDone();
    }

    /** Returns whether nothing is left that another handler has sent, that of TLS in a handshake for example. */
    synchronized boolean isSent() {
        return flushed < sent.size() || pendingBytes() == 0;
    }

    private synchronized boolean isUnflushed() {
        return flushed < sent.size();
    }

    /** Returns whether a close has been asked for that is not done. */
    synchronized boolean isClosing() {
        return operations.entrySet().stream().anyMatch(operation -> operation.getValue() == null &&
                (operation.getKey().startsWith("close ") || operation.getKey().startsWith("reset ")));
    }

    /** Number of writes that have come to the handler. */
    synchronized int writes() {
        return sent.size();
    }

    int receivedBytes() {
        return receivedBytes;
    }

    synchronized int expectedBytes() {
        return sent.subList(0, flushed).stream().filter(write -> !write.isLost())
                .mapToInt(write -> write.content.length).sum();
    }

    synchronized boolean areFlushedDone() {
        return sent.subList(0, flushed).stream().allMatch(write -> operations.containsKey("write " + write.id));
    }

    /** Requests that are not done. */
    synchronized List<String> pending() {
        List<String> pending = new ArrayList<>();
        writes.values().forEach(write -> {
            if (!operations.containsKey("write " + write.id)) {
                pending.add("write " + write.id);
            }
        });
        operations.forEach((name, outcome) -> {
            if (outcome == null) {
                pending.add(name);
            }
        });
        return pending;
    }

    /** @param read whether the other end reads; otherwise it is not the same everywhere how much waits here. */
    synchronized String state(boolean read) {
        if (channel == null) {
            return "no channel";
        }
        return (channel.isOpen() ? "open" : "closed") + (channel.isActive() ? " active" : "") +
                (channel.isRegistered() ? " registered" : "") +
                (socket().isInputShutdown() ? " input shut" : "") +
                (socket().isOutputShutdown() ? " output shut" : "") +
                (!read || mayBeBetweenWaterMarks() ? "" : channel.isWritable() ? " writable" : " not writable");
    }

    /**
     * Writes that wait for a flush may be between the water marks. Whether the channel is writable then depends on
     * earlier bytes, and how fast they have left.
     */
    private boolean mayBeBetweenWaterMarks() {
        return pendingBytes() > 0;
    }

    private long pendingBytes() {
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        return buffer == null ? 0 : buffer.totalPendingWriteBytes();
    }

    // ---- steps

    void install(Step.On reaction) {
        synchronized (reactions) {
            if (reaction.trigger().kind() != Trigger.Kind.RECEIVED || reaction.trigger().value() > receivedBytes) {
                reactions.add(reaction);
            }
        }
    }

    private void react(Trigger.Kind kind, int value) {
        List<Step.On> due = new ArrayList<>();
        synchronized (reactions) {
            reactions.removeIf(reaction -> reaction.trigger().kind() == kind && reaction.trigger().value() == value &&
                    due.add(reaction));
        }
        if (!due.isEmpty() && isUnflushed()) {
            run.reactingToUnflushed();
        }
        due.forEach(reaction -> {
            run.log(side, "on " + reaction.trigger());
            reaction.steps().forEach(step -> step.perform(this));
        });
    }

    private byte[] content(int id, int length) {
        byte[] content = new byte[length];
        new SplittableRandom(run.program().seed() * 1_000_003 + id).nextBytes(content);
        return content;
    }

    void write(int id, Source source, int length, boolean flush) {
        if (channel != null) {
            byte[] content = content(id, length);
            write(id, content, source.message(channel.alloc(), content, new SplittableRandom(id)), flush,
                    future -> { });
        }
    }

    private void write(int id, byte[] content, Object message, boolean flush, Consumer<Future<?>> done) {
        ChannelPromise promise = channel.newPromise();
        Write write = new Write(id, content, promise);
        writes.put(id, write);
        promises.put(promise, write);
        run.log(side, "write " + id + ", " + content.length + " bytes");
        run.writing(side);
        promise.addListener(future -> {
            done.accept(future);
            if (future.isSuccess()) {
                react(Trigger.Kind.WRITTEN, id);
            }
            // Last, since whoever waits for it waits for what follows from it as well.
            outcome("write " + id, future);
        });
        if (flush) {
            channel.writeAndFlush(message, promise);
        } else {
            channel.write(message, promise);
        }
    }

    private void outcome(String name, Future<?> future) {
        String outcome = future.isSuccess() ? "success" : future.isCancelled() ? "cancelled"
                : Causes.describe(future.cause());
        run.log(side, name + ": " + (future.isSuccess() ? outcome : future.cause()));
        synchronized (this) {
            operations.put(name, outcome);
        }
    }

    void operation(String name, ChannelFuture future) {
        run.log(side, name);
        synchronized (this) {
            operations.put(name, null);
        }
        future.addListener(done -> outcome(name, done));
    }

    void writeParts(Step.WriteParts step) {
        if (channel == null) {
            return;
        }
        ByteBufAllocator allocator = step.registered() ? channel.alloc() : ByteBufAllocator.DEFAULT;
        int total = step.pieces() * step.length();
        ByteBuf whole = allocator.directBuffer(total + 16);
        for (int i = 0; i < step.pieces(); i++) {
            whole.writeBytes(content(step.id() + i, step.length()));
        }
        for (int i = 0; i < step.pieces(); i++) {
            write(step.id() + i, content(step.id() + i, step.length()),
                    whole.retainedSlice(i * step.length(), step.length()), false, future -> { });
        }
        channel.flush();
        switch (step.change()) {
        case GROW_BY_WRITING:
            whole.writeZero(whole.writableBytes() + 1);
            break;
        case SET_LARGER_CAPACITY:
            whole.capacity(2 * whole.capacity());
            break;
        case SET_SMALLER_CAPACITY:
            whole.capacity(total);
            break;
        default:
        }
        if (step.change() == Step.Change.RELEASE) {
            whole.release();
        }
        useMemory(allocator, total);
        if (step.change() != Step.Change.RELEASE) {
            whole.release();
        }
    }

    /** Whoever still reads memory that has been given back will see it. */
    private static void useMemory(ByteBufAllocator allocator, int length) {
        ByteBuf[] others = new ByteBuf[2];
        for (int i = 0; i < others.length; i++) {
            others[i] = allocator.directBuffer(length + 16);
            useAgain(others[i], 0, length);
        }
        for (ByteBuf other : others) {
            other.release();
        }
    }

    private static void useAgain(ByteBuf buf, int index, int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, USED_AGAIN);
        buf.setBytes(index, bytes);
    }

    void writeAndReuse(int id, Source source, int length) {
        if (channel == null) {
            return;
        }
        byte[] content = content(id, length);
        ByteBuf buf = (ByteBuf) source.message(channel.alloc(), content, new SplittableRandom(id));
        ByteBuf ours = buf.retainedDuplicate();
        write(id, content, buf, true, future -> {
            useAgain(ours, ours.readerIndex(), length);
            ours.release();
        });
    }

    void writeHeld(int id, int length) {
        if (channel == null) {
            return;
        }
        CompositeByteBuf buf = Unpooled.compositeBuffer(Integer.MAX_VALUE);
        synchronized (held) {
            for (Held one : held) {
                buf.addComponent(true, one.buf.retainedDuplicate());
            }
        }
        if (buf.readableBytes() < length) {
            // The number of held bytes depends on how much had arrived when that began.
            buf.addComponent(true, Unpooled.wrappedBuffer(content(id, length - buf.readableBytes())));
        }
        byte[] content = ByteBufUtil.getBytes(buf.writerIndex(length));
        write(id, content, buf, true, future -> { });
    }

    void cancel(int id) {
        Write write = writes.get(id);
        if (write != null) {
            synchronized (this) {
                operations.put("cancel " + id, String.valueOf(write.promise.cancel(false)));
            }
        }
    }

    void hold(boolean hold) {
        holding = hold;
    }

    void releaseHeld() {
        List<Held> released;
        synchronized (held) {
            released = new ArrayList<>(held);
            held.clear();
        }
        for (int i = released.size() - 1; i >= 0; i--) {
            Held one = released.get(i);
            if (!Arrays.equals(one.content, ByteBufUtil.getBytes(one.buf))) {
                run.violation(side + ": a received buffer changed while it was held: " + one.buf);
            }
            one.buf.release();
        }
    }

    void autoRead(boolean autoRead) {
        if (!isInputOpen()) {
            // Epoll's channels do not expect to be asked then.
            return;
        }
        byHand = false;
        reading = autoRead;
        channel.config().setAutoRead(autoRead);
    }

    void readOnce() {
        if (isInputOpen()) {
            channel.read();
        }
    }

    void readByHand() {
        if (!isInputOpen()) {
            return;
        }
        byHand = true;
        reading = true;
        channel.config().setAutoRead(false);
        channel.read();
    }

    <T> void setOption(ChannelOption<T> option, Object value) {
        @SuppressWarnings("unchecked")
        T typed = (T) transport.value(option, value);
        if (!isClosed()) {
            channel.config().setOption(option, typed);
        }
    }

    void move(EventLoop loop) throws Exception {
        if (channel == null) {
            return;
        }
        run.moving(side);
        moving = channel.isRegistered();
        ChannelFuture left = channel.deregister();
        operation("deregister", left);
        Run.await(left);
        // A channel that was closed meanwhile can't be registered.
        ChannelFuture arrived = loop.register(channel);
        operation("register", arrived);
        Run.await(arrived);
        // A channel of epoll forgets both.
        call(() -> {
            if (byHand) {
                readOnce();
            }
            channel.flush();
        });
    }

    void shuttingInput() {
        run.ending(side, false);
        inputEndedByUs = true;
    }

    void shuttingOutput() {
        run.endingOutput(side);
        ending = true;
    }

    void closing(boolean reset) {
        run.ending(side, reset);
        ending = true;
        inputEndedByUs = true;
    }

    // ---- events

    private void event(String event) {
        synchronized (this) {
            // The number of reads is not promised.
            if (event.equals(READS) && !events.isEmpty() && events.get(events.size() - 1).equals(READS)) {
                return;
            }
            events.add(event);
        }
        if (!event.equals(READS)) {
            run.log(side, event);
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        channel = ctx.channel();
        channel.closeFuture().addListener(future -> event("closed"));
    }

    @Override
    public void channelRegistered(ChannelHandlerContext ctx) {
        if (moving) {
            moving = false;
        } else {
            event("registered");
            react(Trigger.Kind.REGISTERED, 0);
        }
        ctx.fireChannelRegistered();
    }

    @Override
    public void channelUnregistered(ChannelHandlerContext ctx) {
        // When a move is done, compared to other events, depends on the loops. A close may be faster than it.
        if (!moving || isClosed()) {
            event("unregistered");
        }
        ctx.fireChannelUnregistered();
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        event("active");
        react(Trigger.Kind.ACTIVE, 0);
        active = true;
        ctx.fireChannelActive();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        event("inactive");
        react(Trigger.Kind.INACTIVE, 0);
        ctx.fireChannelInactive();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf buf = (ByteBuf) msg;
        byte[] content = ByteBufUtil.getBytes(buf);
        for (int i = 0; i < content.length && !inputEndedByUs;) {
            int length = Math.min(content.length - i, nextReaction() - receivedBytes);
            event(READS);
            run.log(side, "read " + length);
            received.write(content, i, length);
            i += length;
            react(Trigger.Kind.RECEIVED, receivedBytes + length);
            // Last, since whoever waits for it waits for what follows from it as well.
            receivedBytes += length;
        }
        if (holding) {
            synchronized (held) {
                held.add(new Held(buf, content));
            }
        } else {
            buf.release();
        }
    }

    private int nextReaction() {
        synchronized (reactions) {
            return reactions.stream().map(Step.On::trigger).filter(trigger -> trigger.kind() == Trigger.Kind.RECEIVED)
                    .mapToInt(Trigger::value).min().orElse(Integer.MAX_VALUE);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (byHand && isInputOpen()) {
            ctx.read();
        }
        ctx.fireChannelReadComplete();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        lastWritable = ctx.channel().isWritable();
        run.log(side, lastWritable ? "writable" : "not writable");
        ctx.fireChannelWritabilityChanged();
    }

    /**
     * Checks that the pipeline is told of the last change, but for that of an output that ends. Netty puts some of that
     * off to a later task of the event loop, and what the peer reads may change it again.
     */
    void checkWritability() throws Exception {
        for (int i = 0; channel != null && !isToldWritability(); i++) {
            if (i == WRITABILITY_TURNS) {
                run.violation(side + ": the pipeline has been told writable = " + lastWritable + ", which is not true");
                return;
            }
        }
    }

    private boolean isToldWritability() throws Exception {
        return channel.eventLoop().submit(() -> channel.bytesBeforeWritable() == Long.MAX_VALUE ||
                channel.isWritable() == lastWritable).get(Run.WAIT_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
        event(Causes.describe(evt));
        if (evt instanceof ChannelInputShutdownEvent) {
            react(Trigger.Kind.END_OF_INPUT, 0);
            inputEnded = true;
        }
        ctx.fireUserEventTriggered(evt);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        event("exception " + Causes.describe(cause));
        run.log(side, cause.toString());
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        Write write = promises.get(promise);
        if (write != null) {
            synchronized (this) {
                sent.add(write);
            }
        }
        ctx.write(msg, promise);
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        synchronized (this) {
            flushed = sent.size();
        }
        ctx.flush();
    }

    // ---- afterwards

    /** The items of the outcome. */
    synchronized void report(Map<String, String> items) {
        items.put(side + " events", events.toString());
        items.put(side + " received bytes", String.valueOf(receivedBytes));
        operations.forEach((name, outcome) -> items.put(side + " " + name, String.valueOf(outcome)));
        items.put(side + " in the end", state(false));
    }

    /** Checks what is promised of the writes of this end and what the other one has received. */
    synchronized void check(End other, boolean racing) {
        boolean failed = false;
        int position = 0;
        int succeeded = 0;
        byte[] arrived = other.received.toByteArray();
        for (int i = 0; i < flushed; i++) {
            Write write = sent.get(i);
            String outcome = operations.get("write " + write.id);
            if ("cancelled".equals(outcome)) {
                continue;
            }
            if (!"success".equals(outcome)) {
                failed = true;
            } else if (failed && write.content.length > 0) {
                run.violation(side + ": write " + write.id + " succeeded though one before it failed");
            }
            int length = Math.min(write.content.length, arrived.length - position);
            int wrong = Arrays.mismatch(write.content, 0, length, arrived, position, position + length);
            if (wrong >= 0) {
                run.violation(side + ": byte " + wrong + " of write " + write.id + ", " + (position + wrong) +
                        " of the stream, arrived wrong: " + write.content[wrong] + " became " +
                        arrived[position + wrong] + '/' + arrived.length);
                return;
            }
            position += length;
            succeeded += "success".equals(outcome) ? write.content.length : 0;
        }
        if (arrived.length > position) {
            run.violation(other.side + " has received more than was written: " + arrived.length);
        }
        // TCP drops what was sent, too, if an end is closed that has not read all.
        if (other.endedInOrder() && arrived.length < succeeded && (transport.isRdma() || !racing)) {
            run.violation(other.side + ": the end came after " + arrived.length + " bytes, though writes of " +
                    succeeded + " have succeeded");
        }
    }

    /** Returns whether this end has read up to the end of the other one's output. A reset is told by a write, too. */
    private synchronized boolean endedInOrder() {
        return active && !inputEndedByUs && events.stream().noneMatch(event -> event.startsWith("exception")) &&
                operations.values().stream().noneMatch(outcome -> String.valueOf(outcome).contains("Connection reset"));
    }
}
