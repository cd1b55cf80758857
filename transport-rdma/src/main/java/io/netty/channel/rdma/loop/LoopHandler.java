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
package io.netty.channel.rdma.loop;

import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.memory.DeviceContext;
import io.netty.channel.rdma.monitor.LoopCounters;
import io.netty.channel.rdma.monitor.LoopRecord;
import io.netty.channel.rdma.monitor.Registry;
import io.netty.channel.rdma.verbs.CompletionQueue;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.WorkCompletions;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.netty.util.internal.StringUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

import static io.netty.util.internal.ObjectUtil.checkNotNull;

/**
 * The {@link IoHandler} of an event loop that serves RDMA channels and everything that an {@link EpollIoHandler} does.
 *
 * <p>It contains an {@link EpollIoHandler}, which sleeps, and has the code for wake-ups, timers and deadlines. The
 * descriptors by which RDMA devices and the connection manager report events are registered with it like any other.
 * This class adds the polling of completion queues. Before a sleep it polls for as long as its {@link SpinPolicy} says.
 */
public final class LoopHandler implements IoHandler, LoopRecord {
    /** The kinds of counters. The stopwatch runs while the loop sleeps. */
    public enum Counter {
        /** Polls of the completion queues of all devices that found nothing. */
        EMPTY_POLLS,
        /** Polls of the completion queues of all devices that found something. */
        FRUITFUL_POLLS,
        COMPLETIONS,
        /** Number of times that the loop has polled before a sleep. */
        SPINS,
        /** Times that polling before a sleep found nothing. */
        SPINS_IN_VAIN,
        SLEEPS,
        /** Times that the loop woke up and found completions. */
        COMPLETION_WAKEUPS
    }

    /** A handle that uses the handler's resources directly, so that a completion needs no {@link IoEvent}. */
    public interface Handle extends IoHandle {
        /** Is never called, because there are no events. */
        @Override
        default void handle(IoRegistration registration, IoEvent event) {
            throw new UnsupportedOperationException();
        }

        @Override
        void close();
    }

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(LoopHandler.class);

    /** The time for which completion queues are polled before the event loop looks at its timers. */
    private static final long BUSY_POLL_NANOS = 20_000;
    private static final long MAX_FINISH_NANOS = 200_000_000;
    /** Polls between two checks of the clock and for tasks. A check costs about as much as a poll. */
    private static final int POLLS_PER_CHECK = 8;

    private static final Registry<LoopHandler> HANDLERS = new Registry<>();
    private static final LoopCounters.All ALL_COUNTERS = new LoopCounters.All(Counter.values().length);

    private final ThreadAwareExecutor executor;
    final EpollIoHandler epoll;
    /** {@code null} on a loop without NIO's channels. */
    private final NioChannels nio;
    private final Turn turn = new Turn();
    private final boolean busyPoll;
    private final SpinPolicy spinPolicy;
    private final DescriptorSchedule descriptors = new DescriptorSchedule(System.nanoTime());
    /** Maximum number of receives of a {@link LoopReceiveQueue}, unless the device's limit is lower. */
    final int sharedReceiveQueueDepth;
    private final WorkCompletions batch;
    private final LoopCounters counters = new LoopCounters(ALL_COUNTERS);
    private final Set<Registration> registrations = new LinkedHashSet<>();
    /** An array, because each poll iterates over it. */
    LoopDevice[] devices = { };
    /** Objects that all connections of this loop share, by their class. */
    private final Map<Class<?>, AutoCloseable> shared = new IdentityHashMap<>();
    private volatile IoEventLoop loop;
    private final Map<VerbsApi, LoopEvents> events = new IdentityHashMap<>(2);
    private String name;
    /** Requests were posted since the last wait. */
    private boolean posted;
    /** Completions have arrived since the last wait. */
    private boolean arrived;
    private boolean shuttingDown;
    private boolean ending;
    /** Deadline of the end by {@link System#nanoTime()}; 0 before the end. */
    private long finishDeadline;
    private int internalEvents;
    private int externalEvents;

    /**
     * @param executor                of the event loop.
     * @param nio                     serves NIO's channels; {@code null} for a loop without them.
     * @param busyPoll                whether the loop never sleeps while it has a queue pair.
     * @param maxSpinNanos            see {@link SpinPolicy}.
     * @param pollBatch               maximum number of completions that one poll takes.
     * @param sharedReceiveQueueDepth see {@link LoopReceiveQueue}.
     * @throws UnsupportedOperationException if NIO's channels can't be on the loop.
     */
    public LoopHandler(ThreadAwareExecutor executor, EpollIoHandler epoll, NioIoHandler nio, boolean busyPoll,
                       long maxSpinNanos, int pollBatch, int sharedReceiveQueueDepth) {
        this.executor = checkNotNull(executor, "executor");
        this.epoll = epoll;
        this.nio = nio == null ? null : new NioChannels(this, nio);
        this.busyPoll = busyPoll;
        spinPolicy = new SpinPolicy(maxSpinNanos, ThreadUsage::involuntarySwitches,
                () -> anyPeer(CompletionQueue::peerIsLate), () -> anyPeer(CompletionQueue::peerIsAwake),
                System.nanoTime());
        this.sharedReceiveQueueDepth = sharedReceiveQueueDepth;
        batch = new WorkCompletions(pollBatch);
    }

    @Override
    public void initialize() {
        name = Thread.currentThread().getName();
        counters.open();
        HANDLERS.add(this);
        epoll.initialize();
        if (nio != null) {
            nio.handler.initialize();
        }
    }

    @Override
    public int run(IoHandlerContext context) {
        turn.begin(context);
        int handled = 0;
        try {
            handled = hasQueuePairs() ? runWithQueuePairs(context) : runEpoll(true);
        } catch (Throwable t) {
            // Any exception from this method would end the event loop, even OutOfMemoryError, which may be temporary.
            unexpected(t);
        } finally {
            turn.end();
        }
        return handled;
    }

    private int runWithQueuePairs(IoHandlerContext context) {
        int handled = pollCompletions();
        // The clock is read once for a turn, because reading it takes as long as a poll.
        long now = System.nanoTime();
        handled += runEpollIfDue(now);
        if (handled == 0 && context.canBlock()) {
            handled = busyPoll ? busyPoll(context, now) : spinOrSleep(context, now);
        }
        return handled;
    }

    private int busyPoll(IoHandlerContext context, long now) {
        long end = now + BUSY_POLL_NANOS;
        do {
            int handled = pollSomeTimes();
            if (handled > 0 || !context.canBlock()) {
                return handled;
            }
        } while (System.nanoTime() - end < 0);
        // With fewer cores than polling threads, the peer's thread may need this core.
        Thread.yield();
        return 0;
    }

    private int spinOrSleep(IoHandlerContext context, long now) {
        boolean asked = posted && !arrived;
        posted = false;
        arrived = false;
        int handled = spinPolicy.begin(now, asked) ? spin(context) : 0;
        if (handled > 0 || !context.canBlock()) {
            return handled;
        }
        handled = pollCompletions(true);
        return handled > 0 ? handled : sleep();
    }

    private int sleep() {
        counters.add(Counter.SLEEPS, 1);
        counters.start(System.nanoTime());
        int handled = runEpoll(true);
        long now = System.nanoTime();
        counters.stop(now);
        spinPolicy.woke(now);
        // Most likely a completion woke the loop up: handle it in this turn.
        int completions = pollCompletions();
        counters.add(Counter.COMPLETION_WAKEUPS, completions > 0 ? 1 : 0);
        // Epoll has just run. The time that the completions took does not count.
        descriptors.lookedUntil(System.nanoTime());
        return handled + completions;
    }

    private boolean anyPeer(Predicate<CompletionQueue> test) {
        for (LoopDevice device : devices) {
            if (device.anyPeer(test)) {
                return true;
            }
        }
        return false;
    }

    /** Polls until there is something to do, or the policy ends polling. */
    private int spin(IoHandlerContext context) {
        counters.add(Counter.SPINS, 1);
        long now;
        do {
            int handled = pollSomeTimes();
            if (handled > 0) {
                return handled;
            }
            now = System.nanoTime();
            handled = runEpollIfDue(now);
            if (handled > 0 || !context.canBlock()) {
                if (spinPolicy.isWaiting()) {
                    spinPolicy.found(now);
                }
                return handled;
            }
        } while (spinPolicy.foundNothing(now));
        counters.add(Counter.SPINS_IN_VAIN, 1);
        return 0;
    }

    /** Ends the wait, because there are completions. They have not been handled yet. */
    void waitEnds() {
        if (spinPolicy.isWaiting()) {
            spinPolicy.found(System.nanoTime());
        }
    }

    /** Notes that work requests were posted. */
    public void posted() {
        posted = true;
    }

    private int pollSomeTimes() {
        for (int i = 0; i < POLLS_PER_CHECK; i++) {
            int handled = pollCompletions();
            if (handled > 0) {
                return handled;
            }
            Thread.onSpinWait();
        }
        return 0;
    }

    private int runEpollIfDue(long now) {
        return descriptors.isDue(now) ? runEpoll(false) : 0;
    }

    private int pollCompletions() {
        return pollCompletions(false);
    }

    /** @param arm whether to arm the queues if there are no completions, so that the next one wakes the loop. */
    private int pollCompletions(boolean arm) {
        long start = turn.reporting ? System.nanoTime() : 0;
        int handled = 0;
        for (LoopDevice device : devices) {
            handled += arm ? device.pollOrArm(batch) : device.poll(batch);
        }
        if (handled == 0) {
            counters.add(Counter.EMPTY_POLLS, 1);
            return 0;
        }
        arrived = true;
        counters.add(Counter.FRUITFUL_POLLS, 1);
        counters.add(Counter.COMPLETIONS, handled);
        if (turn.reporting) {
            turn.reportActiveIoTime(System.nanoTime() - start);
        }
        return handled;
    }

    /** Returns the handlers of all running loops, in the order of their start. Any thread. */
    public static Registry<LoopHandler> all() {
        return HANDLERS;
    }

    @Override
    public String name() {
        return name;
    }

    /** The value of a counter. Any thread. */
    public long count(Counter counter) {
        return counters.get(counter.ordinal());
    }

    /** Time for which the loop has slept so far. Any thread. */
    public long sleptNanos() {
        return counters.nanos();
    }

    private int runEpoll(boolean mayBlock) {
        int selected = nio == null ? 0 : nio.run();
        turn.mayBlock = mayBlock && selected == 0;
        internalEvents = 0;
        externalEvents = 0;
        int events = epoll.run(turn);
        descriptors.looked(System.nanoTime(), events + selected > 0);
        // For descriptors of the transport itself, the events that were handled count instead.
        return selected + events - internalEvents + externalEvents;
    }

    private boolean hasQueuePairs() {
        for (LoopDevice device : devices) {
            if (device.hasQueuePairs()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Registers a handle. The caller has checked the class, so one that is not epoll's or NIO's is of this transport.
     */
    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        if (handle instanceof EpollIoHandle) {
            return new EpollRegistration(epoll, handle);
        }
        if (nio != null && nio.handler.isCompatible(handle.getClass())) {
            return nio.register(handle);
        }
        if (shuttingDown) {
            throw new RejectedExecutionException("event loop is shutting down");
        }
        if (loop == null && executor instanceof IoEventLoop) {
            registered((IoEventLoop) executor);
        }
        Registration registration = new Registration(handle);
        registrations.add(registration);
        handle.registered();
        return registration;
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return Handle.class.isAssignableFrom(handleType) || epoll.isCompatible(handleType) ||
                nio != null && nio.handler.isCompatible(handleType);
    }

    /** Returns the handler of NIO's channels if there is one, else epoll's. Any thread. */
    public IoHandler tcpHandler() {
        return nio == null ? epoll : nio.handler;
    }

    @Override
    public void wakeup() {
        epoll.wakeup();
    }

    @Override
    public void prepareToDestroy() {
        shuttingDown = true;
        closeChannels();
        if (nio != null) {
            nio.handler.prepareToDestroy();
        }
        epoll.prepareToDestroy();
    }

    /**
     * Shutdown hook of the loop, which may end without a quiet period or another turn. Netty tells channel handlers of
     * a close by a task, and the loop runs no tasks after it has called {@link #destroy()}.
     */
    private void shutDown() {
        prepareToDestroy();
        finishConnections();
    }

    /** Closes all channels of the loop. On the loop. */
    void closeChannels() {
        for (Registration registration : registrations.toArray(new Registration[0])) {
            try {
                registration.handle.close();
            } catch (Exception e) {
                logger.debug("Exception while closing {}", registration.handle, e);
            }
        }
    }

    @Override
    public void destroy() {
        HANDLERS.remove(this);
        counters.close();
        try {
            // A loop that is shut down without a quiet period may not have called prepareToDestroy().
            prepareToDestroy();
            finishConnections();
            ending = true;
            closeChannels();
        } catch (Throwable t) {
            unexpected(t);
        }
        for (LoopDevice device : devices) {
            release(device::destroy);
        }
        devices = new LoopDevice[0];
        events.values().forEach(each -> release(each::destroy));
        events.clear();
        shared.values().forEach(LoopHandler::release);
        shared.clear();
        if (nio != null) {
            release(nio::destroy);
        }
        epoll.destroy();
    }

    /** Releases a resource. A failure must not prevent the release of others. */
    private static void release(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Throwable t) {
            logger.warn("Could not release all RDMA resources of an event loop", t);
        }
    }

    /** Polls until the closed connections have told their peers, for {@link #MAX_FINISH_NANOS} in all. */
    private void finishConnections() {
        if (finishDeadline == 0) {
            finishDeadline = System.nanoTime() + MAX_FINISH_NANOS;
        }
        while (Arrays.stream(devices).anyMatch(LoopDevice::hasOwnConnections) &&
                System.nanoTime() - finishDeadline < 0) {
            pollCompletions();
            for (LoopDevice device : devices) {
                device.runTasks();
            }
            Thread.onSpinWait();
        }
    }

    /** Runs an action on each loop that has a part of the device. Any thread. */
    static void forEachLoop(DeviceContext context, Consumer<LoopDevice> action) {
        for (LoopHandler handler : HANDLERS.elements()) {
            try {
                handler.executor.execute(() -> {
                    for (LoopDevice device : handler.devices) {
                        if (device.context == context) {
                            action.accept(device);
                        }
                    }
                });
            } catch (RejectedExecutionException e) {
                logger.debug("The event loop of {} has ended", handler, e);
            }
        }
    }

    /** Returns the {@link #events}, or {@code null} if there are none yet. */
    public LoopEvents eventsIfAny(VerbsApi verbs) {
        return events.get(verbs);
    }

    /** Returns the part of a device that this loop has. The first call for a device creates it. On the loop. */
    public LoopDevice device(DeviceContext context) throws Exception {
        LoopDevice device = find(context);
        if (device == null) {
            device = new LoopDevice(this, context);
            add(device);
        }
        return device;
    }

    /** Returns the part of a device that this loop has, or {@code null}. On the loop. */
    LoopDevice find(DeviceContext context) {
        for (LoopDevice device : devices) {
            if (device.context == context) {
                return device;
            }
        }
        return null;
    }

    /** Returns the connection manager events of this loop and a provider. On the loop. */
    public LoopEvents events(VerbsApi verbs) throws Exception {
        LoopEvents found = events.get(verbs);
        if (found == null) {
            found = new LoopEvents(this, verbs);
            events.put(verbs, found);
        }
        return found;
    }

    /** Removes the listener of the id's events. On the loop. */
    public void forget(ConnectionId id) {
        LoopEvents found = events.get(id.verbs());
        if (found != null) {
            found.remove(id);
        }
    }

    /** Returns the object of a class that all connections of the loop share; closed with the loop. On the loop. */
    public <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> factory) {
        return type.cast(shared.computeIfAbsent(type, absent -> factory.get()));
    }

    /** Notes the loop, when a channel is registered. On the loop. */
    public void registered(IoEventLoop eventLoop) {
        if (loop == null && eventLoop instanceof SingleThreadEventExecutor) {
            ((SingleThreadEventExecutor) eventLoop).addShutdownHook(this::shutDown);
        }
        loop = eventLoop;
    }

    /** Returns the event loop of this handler, or {@code null} before a channel was registered. Any thread. */
    public IoEventLoop loop() {
        return loop;
    }

    /** Returns whether the caller is the loop's thread. Any thread. */
    public boolean isHere() {
        return executor.isExecutorThread(Thread.currentThread());
    }

    /** Runs the task on the loop: now, if the caller is on it; not at all, if the loop has ended. Any thread. */
    public void execute(Runnable task) {
        if (isHere()) {
            task.run();
            return;
        }
        try {
            executor.execute(task);
        } catch (RejectedExecutionException e) {
            logger.debug("The event loop of {} has ended", this, e);
        }
    }

    /** Adds the part of a device, which another loop may have had before. On the loop. */
    void add(LoopDevice device) {
        devices = Arrays.copyOf(devices, devices.length + 1);
        devices[devices.length - 1] = device;
    }

    public boolean isShuttingDown() {
        return shuttingDown;
    }

    /** Returns whether the loop is ending, so that channels must not wait for events any more. */
    public boolean isEnding() {
        return ending;
    }

    void internalEvent() {
        internalEvents++;
    }

    void externalEvent() {
        externalEvents++;
    }

    /** Logs an exception that belongs to no channel, or whose channel can't be told. */
    void unexpected(Throwable t) {
        logger.warn("Unexpected exception in the event loop.", t);
    }

    /** Tells the owner of an exception that was thrown while something was done for it. */
    void unexpected(Consumer<Throwable> owner, Throwable t) {
        try {
            owner.accept(t);
        } catch (Throwable t2) {
            unexpected(t2);
            try {
                // The owner may have failed for lack of memory, and nothing else ends it.
                owner.accept(t);
            } catch (Throwable t3) {
                t3.addSuppressed(t);
                unexpected(t3);
            }
        }
    }

    private final class Registration implements IoRegistration {
        private final IoHandle handle;
        private volatile boolean cancelled;

        Registration(IoHandle handle) {
            this.handle = handle;
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T> T attachment() {
            return (T) LoopHandler.this;
        }

        @Override
        public long submit(IoOps ops) {
            throw new IllegalArgumentException("IoOps of type " + StringUtil.simpleClassName(ops) + " not supported");
        }

        @Override
        public boolean isValid() {
            return !cancelled;
        }

        @Override
        public boolean cancel() {
            synchronized (this) {
                if (cancelled) {
                    return false;
                }
                cancelled = true;
            }
            if (executor.isExecutorThread(Thread.currentThread())) {
                remove();
            } else {
                executor.execute(this::remove);
            }
            return true;
        }

        private void remove() {
            registrations.remove(this);
            handle.unregistered();
        }
    }

    /** The context for epoll's handler. It can forbid blocking, and adds up the reported time. */
    private static final class Turn implements IoHandlerContext {
        private IoHandlerContext delegate;
        private boolean mayBlock;
        private boolean reporting;
        private long activeNanos;

        void begin(IoHandlerContext context) {
            delegate = context;
            reporting = context.shouldReportActiveIoTime();
            activeNanos = 0;
        }

        /** Reports the active time. Empty polls count as sleep; otherwise the loop would seem fully used. */
        void end() {
            if (reporting) {
                delegate.reportActiveIoTime(activeNanos);
            }
            delegate = null;
        }

        @Override
        public boolean canBlock() {
            return mayBlock && delegate.canBlock();
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return delegate.delayNanos(currentTimeNanos);
        }

        @Override
        public long deadlineNanos() {
            return delegate.deadlineNanos();
        }

        @Override
        public void reportActiveIoTime(long nanos) {
            activeNanos += nanos;
        }

        @Override
        public boolean shouldReportActiveIoTime() {
            return reporting;
        }
    }
}
