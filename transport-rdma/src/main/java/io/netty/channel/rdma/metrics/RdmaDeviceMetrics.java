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
package io.netty.channel.rdma.metrics;

import io.netty.channel.rdma.monitor.DeviceCounters;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsProvider;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositive;

/** Counters of what this process has done on one RDMA device. Any thread may read. */
public final class RdmaDeviceMetrics {
    private static final Path KERNEL_DEVICES = Path.of("/sys/class/infiniband");

    private static final String KERNEL_PROVIDER = VerbsProvider.IBVERBS.name().toLowerCase(Locale.ROOT);

    private final DeviceCounters counters;

    private RdmaDeviceMetrics(DeviceCounters counters) {
        this.counters = counters;
    }

    /** The metrics of all devices that this process has used, in the order in which it has begun to. */
    public static List<RdmaDeviceMetrics> all() {
        return DeviceCounters.all().elements().stream().map(RdmaDeviceMetrics::new).collect(Collectors.toList());
    }

    /**
     * Tells of all devices that this process has used, and from now on of each that it begins to use, until what this
     * returns is closed. Who begins to use one waits meanwhile, so it must not take long.
     */
    public static AutoCloseable watch(Consumer<RdmaDeviceMetrics> used) {
        return DeviceCounters.all().watch(device -> used.accept(new RdmaDeviceMetrics(device)), device -> { });
    }

    /** The kernel's name of the device, for example {@code mlx5_0}. */
    public String name() {
        return counters.device();
    }

    /** {@code ibverbs} or {@code embedded}. */
    public String provider() {
        return counters.provider();
    }

    /** Connections, of byte streams and of messages, that there are now. */
    public int connections() {
        return counters.connections();
    }

    /** Connections that this process has asked for, and that were made. */
    public long connects() {
        return counters.connects();
    }

    /** Connections that peers have asked for, and that were made. */
    public long accepts() {
        return counters.accepts();
    }

    /** Connections that were made and have ended by an error: reset, timed out, a failed operation. */
    public long losses() {
        return counters.losses();
    }

    /** Completions of work requests, with success or without. */
    public long completions() {
        return counters.completions();
    }

    /**
     * Completions with this status. Work requests that were waiting when their connection ended complete with {@link
     * WorkCompletionStatus#WORK_REQUEST_FLUSHED}: that is no error.
     *
     * @param status of {@link WorkCompletionStatus}, except {@link WorkCompletionStatus#SUCCESS}; 1 to 23. What a
     *         library has beyond these counts as 23.
     */
    public long failures(int status) {
        return counters.failures()[checkInRange(status, 1, DeviceCounters.STATUSES - 1, "status")];
    }

    /** Memory regions that were registered so far. */
    public long registrations() {
        return counters.registrations();
    }

    /** Memory regions that are registered now. */
    public int memoryRegions() {
        return counters.regions();
    }

    /** Bytes of these. What is registered with several devices is in the figure of each. */
    public long registeredMemory() {
        return counters.registeredBytes();
    }

    /** Asynchronous events of the device, that is of its ports, queue pairs and queues. */
    public long asyncEvents() {
        return counters.asyncEvents();
    }

    /**
     * The counters that the kernel keeps of a port, by the names of their files in {@code
     * /sys/class/infiniband/DEVICE/ports/PORT/counters} and {@code hw_counters}: of all processes, and since the driver
     * was loaded. What there is depends on the driver; here are, for example, retries because a peer had no receive
     * (RNR: {@code rnr_nak_retry_err} of mlx5, {@code rcvd_rnr_err} of soft-RoCE), of which verbs say nothing.
     *
     * <p>With the embedded provider, which has no kernel, it is {@code rnr_nak_retry_err} alone, and of this process:
     * messages that have found no receive, each once, as they wait and are not sent again.
     *
     * @param port from 1.
     * @return empty if there is no such port.
     */
    public Map<String, Long> portCounters(int port) {
        checkPositive(port, "port");
        if (provider().equals(KERNEL_PROVIDER)) {
            return portCounters(KERNEL_DEVICES, name(), port);
        }
        try {
            Device device = Device.shared(VerbsApi.of(VerbsProvider.EMBEDDED), name());
            return port > device.attributes().portCount() ? Map.of()
                    : Map.of("rnr_nak_retry_err", device.receiverNotReady());
        } catch (VerbsException e) {
            return Map.of();
        }
    }

    static Map<String, Long> portCounters(Path devices, String device, int port) {
        Map<String, Long> values = new TreeMap<>();
        Path folder = devices.resolve(device).resolve("ports").resolve(String.valueOf(port));
        readCounters(folder.resolve("counters"), values);
        readCounters(folder.resolve("hw_counters"), values);
        return values;
    }

    private static void readCounters(Path folder, Map<String, Long> values) {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                readCounter(file, values);
            }
        } catch (IOException e) {
            // The device was removed just now.
            values.clear();
        }
    }

    /** Reads a counter. Some can't be read without the right to, or say "N/A (no PMA)". */
    private static void readCounter(Path file, Map<String, Long> values) {
        try {
            values.put(file.getFileName().toString(), Long.parseUnsignedLong(Files.readString(file).trim()));
        } catch (IOException | NumberFormatException e) {
            values.remove(file.getFileName().toString());
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RdmaDeviceMetrics && ((RdmaDeviceMetrics) other).counters == counters;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(counters);
    }

    @Override
    public String toString() {
        return name() + " (" + provider() + "): " + connections() + " connections, " + connects() + " connects, " +
                accepts() + " accepts, " + losses() + " lost, " + completions() + " completions, " +
                registeredMemory() + " bytes in " + memoryRegions() + " memory regions";
    }
}
