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
package io.netty.example.rdma.compare;

import io.netty.channel.Channel;
import io.netty.util.Version;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where something was measured, for people.
 */
public final class Machine {
    private static final Path CPU_INFO = Path.of("/proc/cpuinfo");

    private Machine() {
    }

    public static String describe() {
        String netty = netty();
        return Runtime.getRuntime().availableProcessors() + " cores of " + processor() + ", Linux "
                + System.getProperty("os.version") + ", JDK " + System.getProperty("java.version")
                + (netty.isEmpty() ? "" : ", Netty " + netty);
    }

    /** Says so if others take cores that would be measured. */
    public static void warnIfBusy() {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        int cores = Runtime.getRuntime().availableProcessors();
        // A pair of polling processes needs two cores for itself.
        if (load > cores - 1) {
            System.out.printf("The machine is busy (load %.1f on %d cores): polling modes in particular will look "
                    + "worse than they are.%n", load, cores);
        }
    }

    /** The version of Netty; empty if it is not known. */
    public static String netty() {
        Version netty = Version.identify(Channel.class.getClassLoader()).get("netty-transport");
        return netty == null ? "" : netty.artifactVersion();
    }

    /** The model of the processor. x86 says what it is under this name, other architectures say less. */
    public static String processor() {
        try (var lines = Files.lines(CPU_INFO)) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).trim())
                    .findFirst().orElse(System.getProperty("os.arch"));
        } catch (IOException e) {
            return System.getProperty("os.arch");
        }
    }
}
