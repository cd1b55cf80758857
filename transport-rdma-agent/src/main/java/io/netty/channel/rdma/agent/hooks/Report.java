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
import io.netty.channel.rdma.monitor.ManagementThread;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import javax.management.AttributeNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Reports the classes that were swapped, and the others with the reason: once each in the log of the program, as an
 * MBean, and as a summary at the end with the option {@code verbose}. Any thread.
 */
final class Report implements AgentMXBean {
    private static final String NAME = "io.netty.rdma:type=Agent";
    private static final InternalLogger logger = InternalLoggerFactory.getInstance("io.netty.channel.rdma.agent");
    /** Swapped classes, by the class that the program has asked for. */
    private static final Map<String, Entry> SWAPPED = new ConcurrentHashMap<>();
    /** Classes that were not swapped, by the class that the program has asked for. */
    private static final Map<String, Entry> KEPT = new ConcurrentHashMap<>();
    private static final Map<String, Entry> FAILED = new ConcurrentHashMap<>();

    static {
        if (Shared.OPTIONS.isVerbose()) {
            Runtime.getRuntime().addShutdownHook(new Thread(Report::summary, "rdma-agent-summary"));
        }
        try {
            if (MBeanServerFactory.findMBeanServer(null).isEmpty()) {
                ManagementThread.runLater(Report::register);
            } else {
                register();
            }
        } catch (LinkageError e) {
            // The module java.management is missing.
            logger.debug("no MBean {}", NAME, e);
        }
    }

    private Report() { }

    private static void register() {
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(new Report(), new ObjectName(NAME));
        } catch (JMException | LinkageError e) {
            logger.debug("no MBean {}", NAME, e);
        }
    }

    /** The new class, or the reason why there is none, and the number of objects. */
    private record Entry(String text, LongAdder count) {
        /** Returns whether the text is new. */
        static boolean add(Map<String, Entry> to, String key, String text) {
            boolean isNew = false;
            Entry entry = to.get(key);
            if (entry == null || !entry.text.equals(text)) {
                synchronized (to) {
                    entry = to.get(key);
                    isNew = entry == null || !entry.text.equals(text);
                    if (isNew) {
                        entry = new Entry(text, entry == null ? new LongAdder() : entry.count);
                        to.put(key, entry);
                    }
                }
            }
            entry.count.increment();
            return isNew;
        }
    }

    static void swapped(String type, Class<?> by) {
        if (Entry.add(SWAPPED, type, by.getName())) {
            logger.info("{} takes the place of {}", by.getName(), type);
        }
    }

    static void kept(String type, String reason) {
        if (Entry.add(KEPT, type, reason)) {
            logger.warn("{} stays as it is: {}", type, reason);
        }
    }

    /** Reports an option of TCP that RDMA has no equivalent for. */
    static void withoutLike(String option) {
        if (Entry.add(KEPT, "option " + option, "RDMA has nothing of this kind")) {
            logger.debug("RDMA has nothing like the option {}", option);
        }
    }

    /** Reports an exception of a hook. The program's object was not replaced. */
    static void failed(String what, Throwable cause) {
        if (Entry.add(FAILED, what, message(cause))) {
            logger.warn("{}: some stay as they are, as the agent has failed", what, cause);
        }
    }

    static String message(Throwable cause) {
        return cause.getMessage() != null ? cause.getMessage() : cause.toString();
    }

    @Override
    public Row[] getClasses() {
        List<Row> rows = new ArrayList<>();
        new TreeMap<>(SWAPPED).forEach((type, entry) -> rows.add(new Row(type, entry.text, entry.count.sum(), "")));
        Map<String, Entry> others = new TreeMap<>(KEPT);
        others.putAll(FAILED);
        others.forEach((type, entry) -> rows.add(new Row(type, "", entry.count.sum(), entry.text)));
        return rows.toArray(new Row[0]);
    }

    private static void summary() {
        StringBuilder lines = new StringBuilder();
        new TreeMap<>(SWAPPED).forEach((type, entry) -> line(lines, "swapped " + type + ": " + entry.count));
        new TreeMap<>(KEPT).forEach((type, entry) -> line(lines, "kept " + type + ": " + entry.text));
        new TreeMap<>(FAILED).forEach((what, entry) -> line(lines, "failed " + what + ": " + entry.text));
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
