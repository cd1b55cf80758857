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
package io.netty.microbench.rdma.process;

import io.netty.channel.Channel;
import io.netty.util.Version;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The machine of a measurement, as far as it makes a difference. Values that the system does not tell are empty.
 *
 * @param processor   name of the processor
 * @param cores       number of cores that this process may use
 * @param caches      caches of the first core: name, as {@code L1 Data}, and size
 * @param memory      memory in bytes
 * @param virtual     maker of the virtual machine; empty if it is none or nothing says so
 * @param kernel      name and version of the kernel
 * @param clockSource clock source of the kernel
 * @param java        version of Java and its virtual machine
 * @param netty       version of Netty
 * @param provider    verbs provider of the transport
 */
public record Machine(String processor, int cores, Map<String, String> caches, long memory, String virtual,
                      String kernel, String clockSource, String java, String netty, String provider) {
    private static final Path CPU_INFO = Path.of("/proc/cpuinfo");
    private static final Path SYSTEM = Path.of("/sys/devices/system");
    private static final int MAX_CACHES = 8;

    /** Describes this machine. */
    public static Machine here(String provider) {
        return new Machine(findProcessor(), Runtime.getRuntime().availableProcessors(), findCaches(),
                findMemory(), findVirtual(), System.getProperty("os.name") + ' ' + System.getProperty("os.version"),
                read(SYSTEM.resolve("clocksource/clocksource0/current_clocksource")),
                System.getProperty("java.version") + ", " + System.getProperty("java.vm.name"),
                findNetty(), provider);
    }

    /** Describes this machine in fewer words. */
    public static String describe() {
        String netty = findNetty();
        return Runtime.getRuntime().availableProcessors() + " cores of " + findProcessor() + ", Linux "
                + System.getProperty("os.version") + ", JDK " + System.getProperty("java.version")
                + (netty.isEmpty() ? "" : ", Netty " + netty);
    }

    /** Prints a warning with the names of other processes, if these take cores that would be measured. */
    public static void warnIfBusy() throws InterruptedException {
        String busy = Others.look();
        if (!busy.isEmpty()) {
            System.out.println(busy);
        }
    }

    /** Version of Netty; empty if it is not known. */
    private static String findNetty() {
        Version netty = Version.identify(Channel.class.getClassLoader()).get("netty-transport");
        return netty == null ? "" : netty.artifactVersion();
    }

    /** Model of the processor. x86 has it under this name; other architectures tell less. */
    private static String findProcessor() {
        String model = line(CPU_INFO, "model name");
        return model.isEmpty() ? System.getProperty("os.arch") : model;
    }

    private static long findMemory() {
        String kibibytes = line(Path.of("/proc/meminfo"), "MemTotal").replaceAll("\\D", "");
        return kibibytes.isEmpty() ? 0 : Long.parseLong(kibibytes) << 10;
    }

    private static Map<String, String> findCaches() {
        Map<String, String> caches = new LinkedHashMap<>();
        for (int i = 0; i < MAX_CACHES; i++) {
            Path cache = SYSTEM.resolve("cpu/cpu0/cache/index" + i);
            if (Files.exists(cache)) {
                caches.put(('L' + read(cache.resolve("level")) + ' ' + read(cache.resolve("type")))
                        .replace(" Unified", ""), read(cache.resolve("size")));
            }
        }
        return caches;
    }

    /** Maker of the virtual machine: the processor's flags show a hypervisor, DMI tables often its name. */
    private static String findVirtual() {
        if (!line(CPU_INFO, "flags").matches(".*\\bhypervisor\\b.*")) {
            return "";
        }
        String vendor = read(Path.of("/sys/class/dmi/id/sys_vendor"));
        return vendor.isEmpty() ? "unnamed hypervisor" : vendor;
    }

    /** Text behind the colon in the first line that has this name. */
    private static String line(Path file, String name) {
        try (var lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(name)).findFirst()
                    .map(line -> line.substring(line.indexOf(':') + 1).trim()).orElse("");
        } catch (IOException e) {
            return "";
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).trim();
        } catch (IOException e) {
            return "";
        }
    }

    /** Returns a text for users. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(cores + " cores of " + processor);
        caches.forEach((name, size) -> text.append(", ").append(name).append(' ').append(size));
        text.append(", ").append(memory >> 30).append(" GiB of memory");
        if (!virtual.isEmpty()) {
            text.append(", virtual (").append(virtual).append(')');
        }
        return text.append(", ").append(kernel).append(", clock ").append(clockSource).append(", JDK ").append(java)
                .append(", Netty ").append(netty).append(", ").append(provider).append(" verbs provider").toString();
    }
}
