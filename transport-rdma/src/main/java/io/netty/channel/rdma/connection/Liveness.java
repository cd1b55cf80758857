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
package io.netty.channel.rdma.connection;

import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Finds out that the peer of a connection does not answer any more, by the options of {@link LivenessOptions}. The
 * device finds that out only while it has something to send, and never for a living peer that has no receive posted.
 *
 * <p>An idle connection is tested with one empty RDMA write. Another one would be of no use while that is in flight,
 * because the device repeats it until the peer's device has acknowledged it. So TCP's number of probes becomes a time
 * here.
 *
 * <p>Requests with copied bytes ask for no completion, because that would wake the loop for each message. With a user
 * timeout, the same test finds out now and then whether they have arrived.
 *
 * <p>On the loop of the connection.
 */
public final class Liveness implements Runnable {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(Liveness.class);

    /** The connection, called on its loop. */
    public interface Connection {
        /** Returns whether requests can be posted. */
        boolean isUsable();

        /** Returns whether a request with a completion waits for the peer, or bytes wait for credits. */
        boolean isWaiting();

        /** Returns whether the peer's device is known to have all that was posted. */
        boolean isAcknowledged();

        /** Makes the device find out whether the peer's device answers. */
        void probe();

        /** Ends the connection, because the peer does not answer any more. */
        void timedOut(String why);
    }

    private final LoopBinding loop;
    private final Connection connection;
    private final LivenessOptions options;
    private LoopBinding.Timer timer;
    /** When the peer last gave a sign of life. */
    private long heardNanos;
    /** Requests wait for the peer, since {@link #waitingNanos}. */
    private boolean waiting;
    private long waitingNanos;
    /** The request that waits for the peer is a test of this end. */
    private boolean probing;

    /** @param options of the channel. */
    public Liveness(LoopBinding loop, Connection connection, LivenessOptions options) {
        this.loop = loop;
        this.connection = connection;
        this.options = options;
    }

    /** Starts to check, because the connection is established or options have changed. */
    public void start() {
        stop();
        if (options.isOn()) {
            heardNanos = System.nanoTime();
            waitingNanos = heardNanos;
            waiting = connection.isWaiting();
            schedule(options.shortestMillis() * 1_000_000L);
        }
    }

    public void stop() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    /** Notes that a request was posted. */
    public void posted() {
        if (timer != null && !waiting && connection.isWaiting()) {
            waiting = true;
            waitingNanos = System.nanoTime();
        }
    }

    /**
     * Notes that the peer sent something, or that its device acknowledged a request.
     *
     * @param acknowledged whether its device acknowledged a request.
     */
    public void heard(boolean acknowledged) {
        if (timer != null) {
            heardNanos = System.nanoTime();
            if (acknowledged) {
                // Requests complete in order, and a test is sent only if no other request waits for a completion.
                boolean answered = probing;
                probing = false;
                waiting = connection.isWaiting();
                waitingNanos = heardNanos;
                if (answered) {
                    // The timer is set for the answer, whose limit may be much later than the next test.
                    timer.cancel();
                    schedule(options.shortestMillis() * 1_000_000L);
                }
            }
        }
    }

    @Override
    public void run() {
        if (!connection.isUsable()) {
            timer = null;
            return;
        }
        long now = System.nanoTime();
        long next = options.shortestMillis() * 1_000_000L;
        if (waiting) {
            long limitMillis = probing ? options.answerMillis() : options.userTimeoutMillis();
            if (limitMillis > 0) {
                next = waitingNanos + limitMillis * 1_000_000L - now;
                if (next <= 0) {
                    timer = null;
                    connection.timedOut(probing ? "the peer has not answered a keep-alive within " + limitMillis + " ms"
                            : "the peer has taken nothing for " + limitMillis + " ms");
                    return;
                }
            }
        } else if (options.userTimeoutMillis() > 0 && !connection.isAcknowledged()) {
            connection.probe();
        } else if (options.isKeepAlive()) {
            next = heardNanos + options.idleMillis() * 1_000_000L - now;
            if (next <= 0) {
                connection.probe();
                probing = waiting;
                next = options.answerMillis() * 1_000_000L;
            }
        }
        if (timer != null) {
            schedule(next);
        }
    }

    private void schedule(long nanos) {
        try {
            timer = loop.schedule(this, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            logger.debug("the event loop has ended", e);
        }
    }
}
