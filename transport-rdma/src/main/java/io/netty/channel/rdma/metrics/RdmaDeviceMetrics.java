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

/** Counters of this process's operations on one RDMA device. Any thread may read. */
public final class RdmaDeviceMetrics {
    private static final Path KERNEL_DEVICES = Path.of("/sys/class/infiniband");

    private static final String KERNEL_PROVIDER = VerbsProvider.IBVERBS.name().toLowerCase(Locale.ROOT);

    private final DeviceCounters counters;

    private RdmaDeviceMetrics(DeviceCounters counters) {
        this.counters = counters;
    }

    /** Returns the metrics of all devices that this process has used, in the order of the first use. */
    public static List<RdmaDeviceMetrics> all() {
        return DeviceCounters.all().elements().stream().map(RdmaDeviceMetrics::new).collect(Collectors.toList());
    }

    /**
     * Calls {@code used} for all devices that this process has used, and from now on for each new one, until the result
     * is closed. The thread that begins to use a device waits for it, so it must not take long.
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

    /** Returns the present number of connections, of byte streams and of messages. */
    public int connections() {
        return counters.connections();
    }

    /** Returns the number of connections that this process has requested, and that were made. */
    public long connects() {
        return counters.connects();
    }

    /** Returns the number of connections that peers have requested, and that were made. */
    public long accepts() {
        return counters.accepts();
    }

    /** Returns the number of connections that have ended by an error: reset, timeout, or a failed operation. */
    public long losses() {
        return counters.losses();
    }

    /** Completions of work requests, with success or without. */
    public long completions() {
        return counters.completions();
    }

    /**
     * Returns the number of completions with this status. Work requests that were waiting when their connection ended
     * complete with {@link WorkCompletionStatus#WORK_REQUEST_FLUSHED}, which is no error.
     *
     * @param status of {@link WorkCompletionStatus}, except {@link WorkCompletionStatus#SUCCESS}; 1 to 23. Higher
     *         values of a newer library count as 23.
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

    /** Returns the registered bytes. Memory that is registered with several devices counts for each. */
    public long registeredMemory() {
        return counters.registeredBytes();
    }

    /** Returns the number of asynchronous events of the device, its ports, queue pairs and queues. */
    public long asyncEvents() {
        return counters.asyncEvents();
    }

    /**
     * Returns the kernel's counters of a port, by the names of their files in {@code
     * /sys/class/infiniband/DEVICE/ports/PORT/counters} and {@code hw_counters}. They count all processes, since the
     * driver was loaded, and depend on the driver. For example they have retries because a peer had no receive (RNR:
     * {@code rnr_nak_retry_err} of mlx5, {@code rcvd_rnr_err} of soft-RoCE), which verbs do not report.
     *
     * <p>The embedded provider has no kernel driver. It has only {@code rnr_nak_retry_err}, of this process: the number
     * of messages that found no receive. Each message counts once, because it waits and is not sent again.
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

    /** Reads a counter. Some can't be read without permission, or contain "N/A (no PMA)". */
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
