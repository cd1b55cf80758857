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


import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * Cores and threads with a clock of their own, scheduled roughly as Linux does it: a thread that wakes up gets an idle
 * core after a delay; without one it waits, and takes the core of a thread that has run longer; a thread that has had a
 * time slice makes room for those that wait.
 */
final class SimulatedMachine {
    private static final long SLICE_NANOS = 3_000_000;
    /** Maximum lead of a thread that was asleep over those that ran. */
    private static final long MAX_LAG_NANOS = SLICE_NANOS;
    private static final long LOOK_NANOS = 1_000;
    /** In place of the time that a loop may poll. */
    static final long NEVER_SLEEP = -1;

    private final long wakeUpNanos;
    private final SimulatedThread[] running;
    /** The time until which the host uses each core for something else. */
    private final long[] stoppedUntil;
    private final Deque<SimulatedThread> waiting = new ArrayDeque<>();
    private final PriorityQueue<Event> events = new PriorityQueue<>(
            Comparator.comparingLong(Event::time).thenComparingLong(Event::number));
    private long lastEvent;
    private long now = 1;

    SimulatedMachine(int cores, long wakeUpNanos) {
        running = new SimulatedThread[cores];
        stoppedUntil = new long[cores];
        this.wakeUpNanos = wakeUpNanos;
    }

    private record Event(long time, long number, Runnable action) {
    }

    void at(long time, Runnable action) {
        events.add(new Event(Math.max(time, now), ++lastEvent, action));
    }

    void run(long nanos) {
        long end = now + nanos;
        while (!events.isEmpty() && events.peek().time() <= end) {
            Event event = events.poll();
            now = event.time();
            event.action().run();
        }
        now = end;
    }

    /** From now on, the host uses a share of each core for something else, for so long at a time. */
    void startPauses(double share, long nanos, long seed) {
        for (int core = 0; core < running.length; core++) {
            pause(core, (1 - share) / share * nanos, nanos, new Random(seed + core));
        }
    }

    private void pause(int core, double meanGap, long nanos, Random random) {
        at(now + (long) (2 * meanGap * random.nextDouble()), () -> {
            stoppedUntil[core] = now + nanos;
            at(now + nanos, () -> pause(core, meanGap, nanos, random));
        });
    }

    /** Runs the action, or does so when the host returns the core. */
    private void onCore(int core, Runnable action) {
        if (now < stoppedUntil[core]) {
            at(stoppedUntil[core], () -> onCore(core, action));
        } else {
            action.run();
        }
    }

    /** Something that needs a core now and then. */
    abstract class SimulatedThread {
        private long used;
        private long sliceEnd;
        private boolean asleep = true;
        private long preemptions;

        final long preemptions() {
            return preemptions;
        }

        /** Has the core: does the next step. Returns how long that takes, or 0 to sleep. */
        abstract long step();

        /** The step is done. */
        void stepDone() {
        }

        final void wake() {
            if (!asleep) {
                return;
            }
            asleep = false;
            long leastUsed = Long.MAX_VALUE;
            for (SimulatedThread other : running) {
                leastUsed = other == null ? leastUsed : Math.min(leastUsed, other.used);
            }
            used = leastUsed == Long.MAX_VALUE ? used : Math.max(used, leastUsed - MAX_LAG_NANOS);
            for (int core = 0; core < running.length; core++) {
                if (running[core] == null) {
                    dispatch(core, this, wakeUpNanos);
                    return;
                }
            }
            waiting.addFirst(this);
        }
    }

    private void dispatch(int core, SimulatedThread thread, long delay) {
        running[core] = thread;
        thread.sliceEnd = now + delay + SLICE_NANOS;
        at(now + delay, () -> onCore(core, () -> next(core)));
    }

    private void next(int core) {
        SimulatedThread thread = running[core];
        SimulatedThread other = leastUsedWaiting();
        if (other != null && (now >= thread.sliceEnd || other.used < thread.used)) {
            thread.preemptions++;
            waiting.remove(other);
            waiting.addLast(thread);
            dispatch(core, other, 0);
            return;
        }
        long nanos = thread.step();
        if (nanos == 0) {
            thread.asleep = true;
            running[core] = null;
            if (other != null) {
                waiting.remove(other);
                dispatch(core, other, 0);
            }
            return;
        }
        thread.used += nanos;
        at(now + nanos, () -> onCore(core, () -> {
            thread.stepDone();
            next(core);
        }));
    }

    private SimulatedThread leastUsedWaiting() {
        return waiting.stream().min(Comparator.comparingLong(thread -> thread.used)).orElse(null);
    }

    /** A program that computes. */
    void startBusyThread() {
        new SimulatedThread() {
            @Override
            long step() {
                return 50_000;
            }
        }.wake();
    }

    private record Work(Runnable action, boolean arrived) {
    }

    /**
     * An event loop: it handles messages, waits for more as its policy says, and answers its peer. Without a policy it
     * never sleeps.
     */
    final class Loop extends SimulatedThread {
        private final SpinPolicy policy;
        private Loop peer;
        private final long workNanos;
        private final Deque<Work> inbox = new ArrayDeque<>();
        private Work handled;
        private boolean arrived;
        private boolean posted;
        private boolean idle;
        private boolean spinning;
        private boolean sleeping = true;
        long spunNanos;
        int sleeps;

        Loop(long maxSpinNanos, long workNanos) {
            policy = maxSpinNanos == NEVER_SLEEP ? null : new SpinPolicy(maxSpinNanos, this::preemptions,
                    () -> !peer.inbox.isEmpty(), () -> !peer.sleeping, now);
            this.workNanos = workNanos;
        }

        /** A message has come: the loop does this when it has time. */
        void deliver(Runnable message) {
            add(new Work(message, true));
        }

        /** A timer has fired. */
        void execute(Runnable task) {
            add(new Work(task, false));
        }

        private void add(Work work) {
            inbox.add(work);
            if (sleeping) {
                wake();
            }
        }

        @Override
        long step() {
            if (sleeping) {
                sleeping = false;
                idle = false;
                if (policy != null) {
                    policy.woke(now);
                }
            }
            handled = inbox.poll();
            if (handled != null) {
                if (idle && policy != null) {
                    policy.found(now);
                }
                idle = false;
                arrived |= handled.arrived();
                return workNanos;
            }
            spinning = policy == null
                    || (idle ? spinning && policy.foundNothing(now) : policy.begin(now, posted && !arrived));
            posted = false;
            arrived = false;
            idle = true;
            if (spinning) {
                spunNanos += LOOK_NANOS;
                return LOOK_NANOS;
            }
            sleeping = true;
            sleeps++;
            return 0;
        }

        @Override
        void stepDone() {
            if (handled != null) {
                handled.action().run();
            }
        }
    }

    /** Two loops that exchange messages. */
    final class Pair {
        private static final long LATENCY_NANOS = 200;

        final Loop client;
        final Loop server;
        /** From an answer to the next message. */
        long pauseNanos;
        int roundTrips;

        Pair(long maxSpinNanos, long workNanos) {
            client = new Loop(maxSpinNanos, workNanos);
            server = new Loop(maxSpinNanos, workNanos);
            client.peer = server;
            server.peer = client;
        }

        /** So many messages, one in each period, whatever becomes of the answers. */
        void sendPaced(long periodNanos, int messages) {
            if (messages > 0) {
                client.execute(() -> {
                    client.posted = true;
                    at(now + LATENCY_NANOS, () -> server.deliver(() -> {
                        server.posted = true;
                        at(now + LATENCY_NANOS, () -> client.deliver(() -> roundTrips++));
                    }));
                });
                at(now + periodNanos, () -> sendPaced(periodNanos, messages - 1));
            }
        }

        /** A message, and when the answer has come, the next one. */
        void send() {
            at(now + LATENCY_NANOS, () -> server.deliver(this::answer));
        }

        private void answer() {
            at(now + LATENCY_NANOS, () -> client.deliver(this::answered));
        }

        private void answered() {
            roundTrips++;
            at(now + pauseNanos, this::send);
        }

        int takeSleeps() {
            int sleeps = client.sleeps + server.sleeps;
            client.sleeps = server.sleeps = 0;
            return sleeps;
        }

        int takeRoundTrips() {
            int taken = roundTrips;
            roundTrips = 0;
            return taken;
        }
    }
}
