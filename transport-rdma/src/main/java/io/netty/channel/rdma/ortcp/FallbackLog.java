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
package io.netty.channel.rdma.ortcp;

import io.netty.channel.ServerChannel;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.util.concurrent.Ticker;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/**
 * Log lines, at usual levels, about connections and servers with TCP instead of RDMA. Their number is limited, whatever
 * the number of connects and destinations. Any thread.
 */
final class FallbackLog {
    /** Lines at once, and then one in {@link #NANOS_A_LINE}. */
    private static final int MAX_LINES = 20;
    private static final long NANOS_A_LINE = TimeUnit.SECONDS.toNanos(3);
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaOrTcp.class);

    /** The log of this process. */
    static final FallbackLog PROCESS = new FallbackLog(Ticker.systemTicker());

    private final Ticker ticker;
    private final AtomicBoolean toldOfProcess = new AtomicBoolean();
    private final AtomicBoolean toldOfLoops = new AtomicBoolean();
    /** The time up to which lines are used up; at most {@link #MAX_LINES} lines in the past. */
    private long usedUntil;
    private long leftOut;

    FallbackLog(Ticker ticker) {
        this.ticker = ticker;
        usedUntil = ticker.nanoTime() - NANOS_A_LINE * MAX_LINES;
    }

    /**
     * The level of a line about a change of a destination's transport.
     *
     * @return {@code INFO}, or {@code DEBUG} if there were too many of them not long ago.
     */
    synchronized InternalLogLevel levelOfChange() {
        long now = ticker.nanoTime();
        usedUntil = Math.max(usedUntil, now - NANOS_A_LINE * MAX_LINES);
        if (usedUntil + NANOS_A_LINE > now) {
            leftOut++;
            return InternalLogLevel.DEBUG;
        }
        usedUntil += NANOS_A_LINE;
        if (leftOut > 0) {
            logger.info("{} lines about the transports of other destinations were left out; RdmaOrTcpMetrics has the " +
                    "counts, the debug level all lines", leftOut);
            leftOut = 0;
        }
        return InternalLogLevel.INFO;
    }

    /**
     * The level of a server's line for this reason. A mistake in the program or in its start is a warning; a host that
     * can't have RDMA is none.
     */
    static InternalLogLevel level(Throwable unavailable) {
        return unavailable instanceof UnsupportedOperationException ? InternalLogLevel.INFO : InternalLogLevel.WARN;
    }

    /**
     * One line for a server.
     *
     * @param log         of the class that the application uses.
     * @param rdma        or {@code null}.
     * @param tcp         or {@code null}.
     * @param unavailable why there is no RDMA, if the rule has not excluded it; else {@code null}.
     */
    static void listens(InternalLogger log, InetSocketAddress local, RdmaServerSocketChannel rdma, ServerChannel tcp,
                        Throwable unavailable) {
        if (unavailable != null) {
            log.log(level(unavailable), "{}: listens for TCP alone, as RDMA is not available: {}", local,
                    ConnectPlan.message(unavailable));
            log.debug("{}: why RDMA is not available", local, unavailable);
        } else if (rdma == null) {
            log.info("{}: listens for TCP alone, as its rule says", local);
        } else {
            log.info("{}: listens for RDMA ({}){}", local, rdma.providers().stream()
                    .map(provider -> provider.name().toLowerCase(Locale.ROOT)).collect(Collectors.joining(", ")),
                    tcp == null ? " alone, as its rule says" : " and TCP");
        }
    }

    /** Logs once in a process why clients have no RDMA, for a reason that holds for all destinations. */
    void unavailable(Throwable cause) {
        AtomicBoolean told = cause == Rdma.unavailabilityCause() ? toldOfProcess : toldOfLoops;
        if (!told.get() && told.compareAndSet(false, true)) {
            logger.log(level(cause), "Clients for RDMA and TCP connect over TCP: {}", ConnectPlan.message(cause));
            logger.debug("Why RDMA is not available", cause);
        }
    }
}
