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
package io.netty.channel.rdma;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.rdma.metrics.RdmaConnectMetrics;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.DeviceAddresses;
import io.netty.channel.rdma.verbs.DeviceAttributes;
import io.netty.channel.rdma.verbs.GidEntry;
import io.netty.channel.rdma.verbs.LockedMemory;
import io.netty.channel.rdma.verbs.PortAttributes;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsProvider;

import java.io.File;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A report that helps to get RDMA running on a host: the provider and the reason for it, devices with their limits,
 * ports, GIDs and addresses, the limit of locked memory, and advice for what is missing. Changes nothing.
 *
 * <p>As a program, {@code java -cp ... io.netty.channel.rdma.RdmaDiagnostics [--provider auto|ibverbs|embedded]} prints
 * {@link #text()} and exits with 0 if the transport can be used, 1 if it can't, 2 for unknown arguments. {@code
 * ./run-example.sh diagnose} does the same.
 */
public final class RdmaDiagnostics {
    private static final File KERNEL_DEVICES = new File("/sys/class/infiniband");
    private static final File NODES = new File("/dev/infiniband");

    private final StringBuilder text = new StringBuilder(2048);
    private final List<String> advice = new ArrayList<>();

    private RdmaDiagnostics() { }

    /** Prints the report. */
    public static void main(String[] arguments) {
        if (arguments.length == 2 && arguments[0].equals("--provider")) {
            // The property is set before the class that reads it is initialised.
            System.setProperty("io.netty.rdma.provider", arguments[1]);
        } else if (arguments.length > 0) {
            System.err.println("Usage: RdmaDiagnostics [--provider auto|ibverbs|embedded]");
            System.exit(2);
        }
        System.out.println(text());
        System.exit(Rdma.isAvailable() ? 0 : 1);
    }

    /**
     * Returns the report, of many lines. Opens each device for a moment and binds each local address, which may take
     * some milliseconds. Any thread, but preferably not that of an event loop.
     */
    public static String text() {
        RdmaDiagnostics diagnostics = new RdmaDiagnostics();
        diagnostics.describe();
        return diagnostics.text.toString();
    }

    private void describe() {
        boolean kernelVerbs = VerbsApi.isAvailable() && isKernel(VerbsApi.preferred());
        text.append("RDMA transport for Netty: ").append(Rdma.isAvailable() ? "can be used" : "can NOT be used");
        if (!Rdma.isAvailable()) {
            line("reason", Rdma.unavailabilityCause().getMessage());
            advice.add(Rdma.unavailabilityCause().getMessage());
        }
        line("provider", VerbsApi.isAvailable() ? VerbsApi.usable().stream().map(VerbsApi::toString)
                .collect(Collectors.joining(", then ")) : "none");
        if (VerbsApi.isAvailable()) {
            line("chosen by", VerbsApi.choice());
            line("folder", VerbsApi.embeddedReach());
            if (VerbsApi.usable().size() > 1) {
                line("to peers", VerbsApi.usable().get(0) + " where somebody listens whom it reaches, " +
                        VerbsApi.preferred() + " to all others");
            }
            line("connects", RdmaConnectMetrics.total().toString());
            if (!kernelVerbs) {
                advice.add("Nothing, to connect processes of this user on this host. To reach other hosts, kernel " +
                        "verbs are needed: see \"chosen by\", and run this again with --provider ibverbs.");
            }
        }
        line("epoll", Epoll.isAvailable() ? "available" : String.valueOf(Epoll.unavailabilityCause()));
        line("system", System.getProperty("os.name") + ' ' + System.getProperty("os.version") + ' ' +
                System.getProperty("os.arch") + ", Java " + System.getProperty("java.version") + ", user " +
                System.getProperty("user.name"));
        line("kernel", names(KERNEL_DEVICES));
        line("nodes", names(NODES));
        line("memlock", LockedMemory.describe() + "; " + LockedMemory.pinned() + " bytes pinned by this process now");
        line("registers", "up to " + RdmaMetrics.maxPinnedMemory() + " bytes (-Dio.netty.rdma.maxPinnedMemory)");
        if (kernelVerbs && !LockedMemory.isUnlimited() && LockedMemory.limit() < RdmaMetrics.maxPinnedMemory()) {
            advice.add("Raise the limit of locked memory (ulimit -l unlimited, systemd: LimitMEMLOCK=infinity, " +
                    "docker: --ulimit memlock=-1), or lower -Dio.netty.rdma.maxPinnedMemory to below it: else " +
                    "connections fail when it is reached.");
        }
        if (VerbsApi.isAvailable()) {
            VerbsApi.usable().forEach(this::devices);
        }
        text.append("\n\nWhat to do:");
        if (advice.isEmpty()) {
            advice.add("Nothing.");
        }
        for (String item : advice) {
            text.append("\n- ").append(item);
        }
    }

    private static boolean isKernel(VerbsApi verbs) {
        return verbs.provider() == VerbsProvider.IBVERBS;
    }

    private void devices(VerbsApi verbs) {
        try {
            DeviceAddresses addresses = DeviceAddresses.find(verbs);
            for (String name : Device.names(verbs)) {
                text.append("\n\nDevice ").append(name);
                line("selected by", addresses.text(name));
                line("provider", verbs.toString());
                if (addresses.byDevice().get(name).isEmpty()) {
                    advice.add("Give the network interface of " + name + " an IP address (rdma link shows which " +
                            "interface it is): addresses choose the device.");
                }
                device(verbs, name);
            }
        } catch (VerbsException | SocketException e) {
            text.append("\n\nDevices: ").append(e.getMessage());
            advice.add(e.getMessage());
        }
    }

    private void device(VerbsApi verbs, String name) {
        try (Device device = Device.open(verbs, name)) {
            DeviceAttributes attributes = device.attributes();
            line("limits", attributes.toString());
            line("peer memory", describe(device.peerMemoryClients(), isKernel(verbs)) + "; dma-bufs: " +
                    (device.supportsDmabuf() ? "yes" : "no"));
            for (int number = 1; number <= attributes.portCount(); number++) {
                PortAttributes port = device.portAttributes(number);
                line("port " + number, port.toString());
                for (GidEntry gid : device.gids(number)) {
                    line("", "GID " + gid + networkInterface(gid));
                }
                port(name, number, port, isKernel(verbs));
            }
        } catch (VerbsException e) {
            line("limits", e.getMessage());
            advice.add(e.getMessage());
        }
    }

    /** Describes the clients of peer memory. The program that prints the report rarely has such memory. */
    private static String describe(List<String> clients, boolean kernel) {
        return !clients.isEmpty() ? String.join(", ", clients) : kernel ? "no kernel module (docs/peer-memory.md)" :
                "none in this process, which has not loaded CUDA or HIP";
    }

    private void port(String device, int number, PortAttributes port, boolean kernelVerbs) {
        if (!port.isActive()) {
            advice.add("Bring up port " + number + " of " + device + ": its network interface (ip link set " +
                    "<interface> up) and cable" + (port.isEthernet() ? "." : ", and the subnet manager (opensm)."));
        } else if (kernelVerbs && port.isEthernet() && port.activeMtu() < port.maxMtu()) {
            advice.add("For large transfers: the packets of port " + number + " of " + device + " carry " +
                    port.activeMtu() + " bytes, as the MTU of its network interface allows. With an MTU of " +
                    "4200 or more, on each switch and host of the path, they carry up to " + port.maxMtu() + '.');
        }
    }

    private static String networkInterface(GidEntry gid) {
        if (gid.interfaceIndex() == 0) {
            return "";
        }
        try {
            NetworkInterface found = NetworkInterface.getByIndex(gid.interfaceIndex());
            return " on " + (found == null ? "interface " + gid.interfaceIndex() : found.getName());
        } catch (SocketException e) {
            return " on interface " + gid.interfaceIndex();
        }
    }

    /** The names in a folder of the kernel, and whether this user may use them. */
    private static String names(File folder) {
        File[] files = folder.listFiles();
        if (files == null || files.length == 0) {
            return folder + (files == null ? " does not exist" : " is empty");
        }
        Arrays.sort(files);
        StringBuilder names = new StringBuilder(folder.toString()).append(": ");
        for (File file : files) {
            names.append(file == files[0] ? "" : ", ").append(file.getName());
            if (!file.isDirectory() && !(file.canRead() && file.canWrite())) {
                names.append(" (no access)");
            }
        }
        return names.toString();
    }

    private void line(String name, String value) {
        text.append(String.format(Locale.ROOT, "%n  %-12s %s", name, value));
    }
}
