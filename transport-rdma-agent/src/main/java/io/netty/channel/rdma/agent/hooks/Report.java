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
package io.netty.channel.rdma.agent.hooks;

import io.netty.channel.rdma.metrics.RdmaMetricsMBean;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import javax.management.AttributeNotFoundException;
import javax.management.openmbean.CompositeData;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Report of the classes that were swapped, and of the others with the reason: in the log of the program, once each, and
 * as a summary at the end if the options say {@code verbose}. Any thread.
 */
final class Report {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance("io.netty.channel.rdma.agent");
    /** By what the program has asked for, how many others have taken its place. */
    private static final Map<String, LongAdder> SWAPPED = new ConcurrentHashMap<>();
    /** By what the program has asked for, why it is as it was. */
    private static final Map<String, String> KEPT = new ConcurrentHashMap<>();
    private static final Map<String, String> FAILED = new ConcurrentHashMap<>();

    static {
        if (Shared.OPTIONS.isVerbose()) {
            Runtime.getRuntime().addShutdownHook(new Thread(Report::summary, "rdma-agent-summary"));
        }
    }

    private Report() { }

    static void swapped(String type, Class<?> by) {
        LongAdder count = SWAPPED.get(type);
        if (count == null) {
            LongAdder first = new LongAdder();
            count = SWAPPED.putIfAbsent(type, first);
            if (count == null) {
                count = first;
                logger.info("{} takes the place of {}", by.getName(), type);
            }
        }
        count.increment();
    }

    static void kept(String type, String reason) {
        if (!reason.equals(KEPT.get(type)) && !reason.equals(KEPT.put(type, reason))) {
            logger.warn("{} stays as it is: {}", type, reason);
        }
    }

    /** An option of TCP that RDMA has nothing for. */
    static void withoutLike(String option) {
        if (KEPT.putIfAbsent("option " + option, "RDMA has nothing of this kind") == null) {
            logger.debug("RDMA has nothing like the option {}", option);
        }
    }

    /** A hook has thrown, and what the program has made stays as it is. */
    static void failed(String what, Throwable cause) {
        String message = message(cause);
        if (!message.equals(FAILED.put(what, message))) {
            logger.warn("{}: some stay as they are, as the agent has failed", what, cause);
        }
    }

    static String message(Throwable cause) {
        return cause.getMessage() != null ? cause.getMessage() : cause.toString();
    }

    private static void summary() {
        StringBuilder lines = new StringBuilder();
        new TreeMap<>(SWAPPED).forEach((type, count) -> line(lines, "swapped " + type + ": " + count));
        new TreeMap<>(KEPT).forEach((type, reason) -> line(lines, "kept " + type + ": " + reason));
        new TreeMap<>(FAILED).forEach((what, reason) -> line(lines, "failed " + what + ": " + reason));
        try {
            CompositeData process = (CompositeData) new RdmaMetricsMBean().getAttribute("Process");
            for (String name : process.getCompositeType().keySet()) {
                line(lines, "count " + name + ": " + process.get(name));
            }
        } catch (AttributeNotFoundException | LinkageError e) {
            line(lines, "count: " + e);
        }
        System.err.print(lines);
    }

    private static void line(StringBuilder lines, String text) {
        lines.append("netty-transport-rdma-agent: ").append(text).append(System.lineSeparator());
    }
}
