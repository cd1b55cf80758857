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

import ch.qos.logback.classic.Level;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.rdma.LogRecorder;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.stream.ChunkedWriteHandler;
import io.netty.util.concurrent.Future;

import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

/** One run of a program on a transport. */
final class Run {
    /** Maximum time of any step: a close waits for up to 3 s, the rest is for busy machines. */
    static final long WAIT_SECONDS = TestTimeouts.SECONDS;
    private static final long LOOK_NANOS = 50_000;
    private static final int SERVER_LOOP = 1;
    private static final int MAX_LOG_LINES = 2_000;
    /** A channel in a message: its id and addresses. */
    private static final Pattern CHANNEL = Pattern.compile("\\[id: 0x[^\\]]*]");

    private final Program program;
    private final Transport transport;
    private final Map<Side, End> ends = new EnumMap<>(Side.class);
    private final Map<String, String> items = new TreeMap<>();
    private final List<String> violations = new ArrayList<>();
    private final List<String> log = new ArrayList<>();
    private final long startNanos = System.nanoTime();
    private int syncs;
    private final Set<Side> unread = EnumSet.noneOf(Side.class);
    private volatile boolean racing;

    private Run(Program program, Transport transport) {
        this.program = program;
        this.transport = transport;
        for (Side side : Side.values()) {
            ends.put(side, new End(side, this, transport,
                    !Boolean.FALSE.equals(program.setup().options(side).get(ChannelOption.AUTO_READ))));
        }
    }

    static Outcome of(Program program, Transport transport) throws InterruptedException {
        return new Run(program, transport).outcome();
    }

    Program program() {
        return program;
    }

    End end(Side side) {
        return ends.get(side);
    }

    EventLoop loop(int index) {
        return transport.loop(index);
    }

    boolean haveLoopsOfTheirOwn() {
        Channel client = end(Side.CLIENT).channel();
        Channel server = end(Side.SERVER).channel();
        return client != null && server != null && client.eventLoop() != server.eventLoop();
    }

    void log(Side side, String text) {
        synchronized (log) {
            if (log.size() < MAX_LOG_LINES) {
                log.add(String.format("%9.3f ms %s %s%s", (System.nanoTime() - startNanos) / 1e6,
                        side == null ? "      " : side, text, loopOf(side)));
            }
        }
    }

    private static String loopOf(Side side) {
        return side == null ? "" : "  [" + Thread.currentThread().getName() + ']';
    }

    /** An end is about to close the connection, or does not want to read any more. */
    void ending(Side side, boolean reset) {
        End end = end(side);
        End other = end(side.other());
        if (!other.isReading()) {
            synchronized (unread) {
                unread.add(side);
            }
        }
        if (reset && !end.isQuiet(other) ||
                other.channel() != null && (!other.isQuiet(end) || other.isEnding() && !end.isEnded())) {
            racing();
        }
    }

    /** An end is about to end its output: bytes in flight to it come before or after that. */
    void endingOutput(Side side) {
        End other = end(side.other());
        if (other.channel() != null && !other.isQuiet(end(side))) {
            racing();
        }
    }

    /** An end is about to write. */
    void writing(Side side) {
        End other = end(side.other());
        if (other.channel() != null && (other.isClosed() || other.hasShutInput())) {
            racing();
        }
    }

    /** An end's next action may flush what a step has written: either may come first. */
    void reactingToUnflushed() {
        racing();
    }

    /** An end is about to change its event loop. */
    void moving(Side side) {
        if (end(side.other()).isEnding() && !end(side).isEnded()) {
            racing();
        }
    }

    private void racing() {
        if (!racing) {
            log(null, "from here on there is more than one order of events");
            racing = true;
        }
    }

    void violation(String text) {
        log(null, "VIOLATION " + text);
        synchronized (violations) {
            violations.add(text);
        }
    }

    static void await(Future<?> future) throws InterruptedException {
        if (!future.await(WAIT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("not done within " + WAIT_SECONDS + " s: " + future);
        }
    }

    private Outcome outcome() throws InterruptedException {
        try (LogRecorder recorder = new LogRecorder()) {
            Channel listener = null;
            try {
                listener = listen();
                perform(listener.localAddress());
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception | AssertionError e) {
                violation(String.valueOf(e));
            } finally {
                if (listener != null) {
                    listener.close();
                }
                close();
            }
            items.put("warnings", CHANNEL.matcher(recorder.messages(Level.WARN).toString()).replaceAll("[channel]"));
        }
        for (End end : ends.values()) {
            end.report(items);
            end.check(end(end.side.other()), racing);
        }
        synchronized (log) {
            return new Outcome(transport.name, items, racing, unread, violations, String.join("\n", log));
        }
    }

    private Channel listen() throws InterruptedException {
        ServerBootstrap bootstrap = new ServerBootstrap().group(loop(SERVER_LOOP),
                        loop(program.setup().oneLoop() ? 0 : SERVER_LOOP)).channel(transport.serverChannel)
                .handler(new ChannelInboundHandlerAdapter()).childHandler(initializer(Side.SERVER));
        transport.options(program.setup(), Side.SERVER).forEach((option, value) -> child(bootstrap, option, value));
        Channel listener = bootstrap.bind(transport.address()).sync().channel();
        if (!program.setup().listening()) {
            await(listener.close());
        }
        return listener;
    }

    @SuppressWarnings("unchecked")
    private static <T> void child(ServerBootstrap bootstrap, ChannelOption<T> option, Object value) {
        bootstrap.childOption(option, (T) value);
    }

    @SuppressWarnings("unchecked")
    private static <T> void option(Bootstrap bootstrap, ChannelOption<T> option, Object value) {
        bootstrap.option(option, (T) value);
    }

    private ChannelInitializer<Channel> initializer(Side side) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel ch) {
                switch (program.setup().pipeline()) {
                case CONSOLIDATING:
                    ch.pipeline().addLast(new FlushConsolidationHandler(5, true));
                    break;
                case CHUNKED:
                    ch.pipeline().addLast(new ChunkedWriteHandler());
                    break;
                case TLS:
                    ch.pipeline().addLast(Tls.handler(side, ch.alloc()));
                    break;
                default:
                }
                ch.pipeline().addLast(end(side));
            }
        };
    }

    private void perform(SocketAddress address) throws Exception {
        List<Step> steps = program.steps();
        int next = 0;
        while (next < steps.size() && steps.get(next) instanceof Step.On) {
            steps.get(next++).drive(this);
        }
        Bootstrap bootstrap = new Bootstrap().group(loop(0)).channel(transport.channel)
                .handler(initializer(Side.CLIENT));
        transport.options(program.setup(), Side.CLIENT).forEach((option, value) -> option(bootstrap, option, value));
        ChannelFuture connected = bootstrap.connect(address);
        end(Side.CLIENT).operation("connect", connected);
        await(connected);
        if (connected.isSuccess()) {
            awaitTrue("the connection", () -> isMade(Side.CLIENT) && isMade(Side.SERVER));
            for (Step step : steps.subList(next, steps.size())) {
                log(null, "-- " + step);
                step.drive(this);
            }
        }
        finish();
    }

    private boolean isMade(Side side) {
        End end = end(side);
        SslHandler tls = end.channel() == null ? null : end.channel().pipeline().get(SslHandler.class);
        return end.isActive() && (tls == null || tls.handshakeFuture().isDone()) ||
                end.channel() != null && !end.channel().isOpen();
    }

    /** The orderly end of whatever the program has left. */
    private void finish() throws Exception {
        log(null, "-- the end");
        for (End end : ends.values()) {
            end.call(() -> {
                end.hold(false);
                end.releaseHeld();
                if (end.channel().isOpen()) {
                    end.autoRead(true);
                }
            });
        }
        sync();
        // One that has shut its input would not notice the end of the other one.
        List<End> inOrder = new ArrayList<>(ends.values());
        inOrder.sort(Comparator.comparing(end -> !end.hasShutInput()));
        for (End end : inOrder) {
            if (!end.isClosed()) {
                end.call(() -> {
                    end.closing(false);
                    end.operation("last close", end.channel().close());
                });
                awaitEnd(end.side.other());
            }
        }
        awaitTrue("the last events", () -> ends.values().stream().allMatch(end -> end.channel() == null ||
                end.isUnregistered() && end.pending().isEmpty()));
        // The event follows the state.
        settle();
    }

    /** Nothing may be left for other runs. */
    private void close() throws InterruptedException {
        for (End end : ends.values()) {
            if (end.channel() != null) {
                end.channel().close().await(WAIT_SECONDS, TimeUnit.SECONDS);
                end.releaseHeld();
                if (!end.pending().isEmpty()) {
                    violation(end.side + ": never done: " + end.pending());
                }
            }
        }
    }

    // ---- waiting

    void sync() throws Exception {
        settle();
        awaitTrue("what both have sent", this::hasAllArrived);
        settle();
        syncs++;
        for (Side side : Side.values()) {
            items.put(side + " at sync " + syncs, end(side).state(end(side.other()).isReading()));
        }
    }

    private boolean hasAllArrived() {
        int writes = writes();
        for (Side side : Side.values()) {
            if (!hasArrived(end(side), end(side.other()))) {
                return false;
            }
        }
        // Bytes that arrived at one end while the other one was looked at may have made it write.
        return writes() == writes;
    }

    private int writes() {
        return ends.values().stream().mapToInt(End::writes).sum();
    }

    private static boolean hasArrived(End from, End to) {
        return from.channel() == null || to.channel() == null ||
                !from.isClosing() && (!to.isReading() || !from.isEnding() && from.isQuiet(to) && from.isSent());
    }

    /** Waits until all requests have begun, and the loops have done what they put off. */
    private void settle() throws Exception {
        for (int i = 0; i < 3; i++) {
            for (End end : ends.values()) {
                end.call(() -> { });
            }
        }
        for (End end : ends.values()) {
            end.checkWritability();
        }
    }

    void awaitEnd(Side side) throws Exception {
        End end = end(side);
        // Unread bytes hide the end behind them: on RDMA sooner than behind the buffers of a socket.
        end.call(() -> {
            if (!end.isReading() && end(side.other()).expectedBytes() > end.receivedBytes()) {
                end.autoRead(true);
            }
        });
        awaitTrue("the end at the " + side, () -> !end(side.other()).isEnding() || end.isEnded() ||
                end.hasShutInput());
    }

    private void awaitTrue(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not within " + WAIT_SECONDS + " s: " + what + "; client " +
                        describe(end(Side.CLIENT)) + "; server " + describe(end(Side.SERVER)));
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    private static String describe(End end) {
        return end.state(true) + ", received " + end.receivedBytes() + ", pending " + end.pending();
    }
}
