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
package unmodified;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;

import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.ReflectionException;
import javax.management.openmbean.CompositeData;
import java.lang.management.ManagementFactory;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Several programs of this package in one JVM, one after the other, which takes less time than a JVM for each. Both
 * outputs get a line before each program; after it the standard error stream gets its part of the counts, in the form
 * of the agent's summary. The counts are read by JMX, as by an operator.
 */
public final class Several {
    private static final String PREFIX = "netty-transport-rdma-agent: ";
    private static final int GC_ROUNDS = 10;
    private static final int GC_MILLIS = 100;

    private Several() { }

    /** @param args programs, each the name of a class and its arguments, with blanks between. */
    public static void main(String... args) throws Exception {
        for (String program : args) {
            System.out.println("program " + program);
            System.err.println("program " + program);
            Map<String, Long> before = counts();
            List<String> words = new ArrayList<>(Arrays.asList(program.split(" ")));
            try {
                Class.forName(Several.class.getPackageName() + '.' + words.remove(0)).getMethod("main", String[].class)
                        .invoke(null, (Object) words.toArray(new String[0]));
            } catch (ReflectiveOperationException e) {
                // The others can be compared nevertheless.
                e.printStackTrace();
            }
            counts().forEach((name, count) -> System.err.println(PREFIX + name + ": " +
                    (count - before.getOrDefault(name, 0L))));
        }
        System.out.println("program");
        System.err.println("program");
        if (ResourceLeakDetector.getLevel() == ResourceLeakDetector.Level.PARANOID) {
            reportLeaks();
        }
    }

    /** Leaks a buffer, after whose report there are those of all others. The detector reports with its next object. */
    private static void reportLeaks() throws InterruptedException {
        ReferenceQueue<ByteBuf> collected = new ReferenceQueue<>();
        WeakReference<ByteBuf> last = new WeakReference<>(
                UnpooledByteBufAllocator.DEFAULT.buffer().touch("leaked on purpose"), collected);
        for (int i = 0; i < GC_ROUNDS && collected.remove(GC_MILLIS) != last; i++) {
            System.gc();
        }
        for (int i = 0; i < GC_ROUNDS; i++) {
            System.gc();
            UnpooledByteBufAllocator.DEFAULT.buffer().release();
        }
    }

    private static Map<String, Long> counts() throws JMException {
        Map<String, Long> counts = new TreeMap<>();
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        // The transport's own is there only while there are event loops.
        ObjectName transport = new ObjectName("unmodified:type=Transport");
        ObjectName agent = new ObjectName("io.netty.rdma:type=Agent");
        try {
            if (!server.isRegistered(transport)) {
                server.createMBean("io.netty.channel.rdma.metrics.RdmaMetricsMBean", transport);
            }
            CompositeData process = (CompositeData) server.getAttribute(transport, "Process");
            process.getCompositeType().keySet().forEach(name -> counts.put("count " + name, (Long) process.get(name)));
            for (CompositeData row : (CompositeData[]) server.getAttribute(agent, "Classes")) {
                counts.put((row.get("by").equals("") ? "kept " : "swapped ") + row.get("type"),
                        (Long) row.get("count"));
            }
        } catch (ReflectionException | InstanceNotFoundException e) {
            // Without the agent, or before it has done anything.
            return counts;
        }
        return counts;
    }
}
