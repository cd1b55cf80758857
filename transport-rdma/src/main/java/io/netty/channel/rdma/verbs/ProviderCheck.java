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
package io.netty.channel.rdma.verbs;

import io.netty.util.internal.StringUtil;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Finds out whether a provider can be used. Loaded libraries alone say nothing about the kernel. Each reason has its
 * remedy.
 */
final class ProviderCheck {
    private static final Path NODES = Path.of("/dev/infiniband");
    private static final Path KERNEL_DEVICES = Path.of("/sys/class/infiniband");
    private static final Path KERNEL_NODES = Path.of("/sys/class/infiniband_verbs");

    private ProviderCheck() { }

    /** Returns whether the provider of this table knows any device. */
    static boolean hasDevice(long api) {
        return deviceCount0(api) > 0;
    }

    /** Returns why the embedded provider can't be used, or {@code null}. */
    static String embedded(long api) {
        int devices = deviceCount0(api);
        int errno = devices > 0 ? probeConnectionManager0(api) : -devices;
        return devices > 0 && errno == 0 ? null : "it cannot start" + (errno == 0 ? "" : ": " + text(errno));
    }

    /** Returns why libibverbs can't be used although its libraries are loaded, or {@code null}. */
    static String ibverbs(long api) {
        int devices = deviceCount0(api);
        if (devices <= 0) {
            return noDevice(-devices);
        }
        int errno = probeConnectionManager0(api);
        if (errno != 0) {
            return node(NODES.resolve("rdma_cm"), errno, "modprobe rdma_ucm");
        }
        String[] reasons = new String[devices];
        for (int i = 0; i < devices; i++) {
            errno = probeDevice0(api, i);
            if (errno == 0) {
                return null;
            }
            reasons[i] = device(deviceName0(api, i), errno);
        }
        return StringUtil.join("; ", Arrays.asList(reasons)).toString();
    }

    private static String noDevice(int errno) {
        String[] known = names(KERNEL_DEVICES);
        // ENOSYS: the kernel has no RDMA at all.
        String reason = errno == 0 || errno == Errno.ENOSYS ? "" : " (" + text(errno) + ')';
        if (known.length > 0) {
            return "the kernel has RDMA devices (" + String.join(", ", known) + ") but " + (hasNodes() ?
                    "libibverbs finds none" + reason + ": install their user space driver (Debian: ibverbs-providers," +
                            " others: rdma-core)" :
                    "there is no " + NODES + "/uverbs*" + reason + ": " + load("modprobe ib_uverbs"));
        }
        return "there is no RDMA device" + reason + ": load the driver of the network adapter, or soft-RoCE " +
                "(modprobe rdma_rxe; rdma link add rxe0 type rxe netdev <interface>)";
    }

    private static String device(String name, int errno) {
        for (String node : names(KERNEL_NODES)) {
            try {
                Path owner = KERNEL_NODES.resolve(node).resolve("ibdev");
                if (Files.readString(owner, StandardCharsets.US_ASCII).trim().equals(name)) {
                    return "the RDMA device " + name + " cannot be opened: " +
                            node(NODES.resolve(node), errno, "modprobe ib_uverbs");
                }
            } catch (IOException e) {
                // Not the node of a device.
            }
        }
        return "the RDMA device " + name + " cannot be opened: " + text(errno);
    }

    /** The reason why a device node can't be used. */
    private static String node(Path node, int errno, String load) {
        if (!Files.exists(node)) {
            return node + " does not exist (" + text(errno) + "): " + load(load);
        }
        if (!Files.isReadable(node) || !Files.isWritable(node)) {
            return "this user may not open " + node + " (" + text(errno) + "): give read and write access to it, " +
                    "with a udev rule (KERNEL==\"" + node.getFileName() + "\", MODE=\"0666\") or a group of the file";
        }
        return node + ": " + text(errno) + "; load its module (" + load + ')';
    }

    private static String load(String command) {
        return "load its module (" + command + "); in a container, pass " + NODES + " to it (docker: --device=" +
                NODES + ')';
    }

    private static boolean hasNodes() {
        for (String name : names(NODES)) {
            if (name.startsWith("uverbs")) {
                return true;
            }
        }
        return false;
    }

    private static String[] names(Path folder) {
        String[] names = new File(folder.toString()).list();
        if (names == null) {
            return new String[0];
        }
        Arrays.sort(names);
        return names;
    }

    private static String text(int errno) {
        return NativeMemory.errorText(errno) + " (errno " + errno + ')';
    }

    /** The number of devices, or a negative errno. */
    private static native int deviceCount0(long api);

    /** Opens and closes a device. Returns 0 or a positive errno. */
    private static native int probeDevice0(long api, int index);

    private static native String deviceName0(long api, int index);

    /** Makes and destroys an event channel. Returns 0 or a positive errno. */
    private static native int probeConnectionManager0(long api);
}
