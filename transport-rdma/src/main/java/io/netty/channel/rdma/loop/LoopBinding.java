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

import io.netty.util.concurrent.Future;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The event loop that an object is bound to now, and the object's tasks and timers. When the object moves to another
 * loop, its timers and the tasks that did not run yet move too, in order. They wait during the move. So two loops never
 * use the object at the same time.
 *
 * <p>An exception of a task or timer is a failure of the object ({@link #onUnexpected}).
 *
 * <p>The handover must be ordered (happens-before), as it is by a task that one loop gives to the other.
 */
public final class LoopBinding implements Executor {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(LoopBinding.class);

    // Not Netty's queue for many producers: after adding a task, a producer could miss a change of the fields below.
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Runnable runTasks = this::run;
    private final Set<Timer> timers = new LinkedHashSet<>();
    private volatile LoopHandler handler;
    private volatile boolean attached = true;
    private volatile boolean abandoned;
    private Consumer<Throwable> owner;

    /** @param handler of the calling event loop. */
    public LoopBinding(LoopHandler handler) {
        this.handler = handler;
    }

    /** Sets the owner that gets exceptions of tasks and timers. Without an owner they are only logged. On the loop. */
    public void onUnexpected(Consumer<Throwable> newOwner) {
        owner = newOwner;
    }

    /** Returns the handler of the loop; during a move, the handler of the old loop. Any thread. */
    public LoopHandler handler() {
        return handler;
    }

    /** Returns whether the caller is on the loop's thread and the object is attached to the loop. Any thread. */
    public boolean isHere() {
        return attached && handler.isHere();
    }

    /** Leaves the loop; {@link #attach} is next. On the loop. */
    public void detach() {
        attached = false;
        timers.forEach(Timer::stop);
    }

    /** Binds the object to the loop of this handler. On that loop. */
    public void attach(LoopHandler newHandler) {
        handler = newHandler;
        attached = true;
        try {
            timers.forEach(Timer::start);
            newHandler.loop().execute(runTasks);
        } catch (RejectedExecutionException e) {
            ended(e);
        }
    }

    public boolean isAttached() {
        return attached;
    }

    /**
     * Ends the binding, because the loop ends and no other one follows. From now on the caller of {@link #execute} runs
     * the task, one at a time. On the loop.
     */
    void abandon() {
        attached = false;
        abandoned = true;
        runAbandoned();
    }

    /** Runs the remaining tasks. {@link #abandon()} runs tasks whose adder did not see {@link #abandoned} yet. */
    private synchronized void runAbandoned() {
        for (Runnable task; (task = tasks.poll()) != null;) {
            run(task);
        }
    }

    /** Runs the task on the loop, after those that were added before. Any thread. */
    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (attached) {
            try {
                handler.loop().execute(runTasks);
            } catch (RejectedExecutionException e) {
                ended(e);
            }
        }
        if (abandoned) {
            runAbandoned();
        }
    }

    /** Runs the tasks that were added. Does nothing if this is not the object's loop any more. */
    public void run() {
        while (isHere()) {
            Runnable task = tasks.poll();
            if (task == null) {
                break;
            }
            run(task);
        }
    }

    private void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable t) {
            if (owner == null) {
                handler.unexpected(t);
            } else {
                handler.unexpected(owner, t);
            }
        }
    }

    /**
     * Schedules the task to run on the loop after a delay. On the loop.
     *
     * @throws RejectedExecutionException if the loop has ended.
     */
    public Timer schedule(Runnable task, long delay, TimeUnit unit) {
        Timer timer = new Timer(task, nanoTime() + unit.toNanos(delay));
        timer.start();
        timers.add(timer);
        return timer;
    }

    /** Returns the time of the loop's clock, by which timers run. */
    public long nanoTime() {
        return handler.loop().ticker().nanoTime();
    }

    private static void ended(RejectedExecutionException cause) {
        // The loop's handler runs the last tasks when it is destroyed.
        logger.debug("The event loop has ended", cause);
    }

    public final class Timer implements Runnable {
        private final Runnable task;
        private final long deadlineNanos;
        private Future<?> future;

        private Timer(Runnable task, long deadlineNanos) {
            this.task = task;
            this.deadlineNanos = deadlineNanos;
        }

        private void start() {
            if (attached) {
                future = handler.loop().schedule(this, deadlineNanos - nanoTime(), TimeUnit.NANOSECONDS);
            }
        }

        private void stop() {
            if (future != null) {
                future.cancel(false);
                future = null;
            }
        }

        /** Cancels the timer. On the loop. */
        public void cancel() {
            timers.remove(this);
            stop();
        }

        @Override
        public void run() {
            timers.remove(this);
            LoopBinding.this.run(task);
        }
    }
}
