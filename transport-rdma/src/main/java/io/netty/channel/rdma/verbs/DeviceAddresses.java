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

import io.netty.util.NetUtil;
import io.netty.util.internal.UnstableApi;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;

/**
 * RDMA devices of the IP addresses of this host. The connection manager chooses a device by the local address. So this
 * class lets it bind each address of each network interface, which works for InfiniBand, RoCE and iWARP. Immutable.
 */
@UnstableApi
public final class DeviceAddresses {
    /** Maximum number of addresses in a text for a person. A host of containers may have thousands. */
    private static final int MOST_IN_TEXT = 16;

    private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final ConcurrentMap<VerbsApi, DeviceAddresses> RECENT = new ConcurrentHashMap<>();

    private final Map<String, List<InetAddress>> byDevice;
    private final Map<InetAddress, Integer> ports;
    private final long nanos = System.nanoTime();

    private DeviceAddresses(Map<String, List<InetAddress>> byDevice, Map<InetAddress, Integer> ports) {
        this.byDevice = byDevice;
        this.ports = ports;
    }

    /**
     * Asks for all addresses that this host has now, and the devices of {@link VerbsApi#preferred()}. Takes some system
     * calls for each of them. Any thread.
     */
    public static DeviceAddresses find() throws VerbsException, SocketException {
        return find(VerbsApi.preferred());
    }

    /**
     * Asks for all addresses that this host has now, and the devices of a given provider. Takes some system calls for
     * each of them. Any thread.
     */
    public static DeviceAddresses find(VerbsApi verbs) throws VerbsException, SocketException {
        Map<String, List<InetAddress>> byDevice = new LinkedHashMap<>();
        Map<InetAddress, Integer> ports = new HashMap<>();
        for (String name : Device.names(verbs)) {
            byDevice.put(name, new ArrayList<>());
        }
        try (EventChannel channel = EventChannel.create(verbs)) {
            for (NetworkInterface netInterface : Collections.list(NetworkInterface.getNetworkInterfaces())) {
                for (InetAddress address : Collections.list(netInterface.getInetAddresses())) {
                    String device = deviceOf(address, channel, ports);
                    if (device != null) {
                        byDevice.computeIfAbsent(device, name -> new ArrayList<>()).add(address);
                    }
                }
            }
        }
        return new DeviceAddresses(Collections.unmodifiableMap(byDevice), ports);
    }

    /**
     * Returns the addresses of {@link #find(VerbsApi)}, or those found less than a second ago, so that each connect can
     * call it. A caller that misses an address can call {@link #find(VerbsApi)}. Any thread.
     */
    public static DeviceAddresses recent(VerbsApi verbs) throws VerbsException, SocketException {
        DeviceAddresses recent = RECENT.get(verbs);
        if (recent == null || System.nanoTime() - recent.nanos >= RECENT_NANOS) {
            recent = find(verbs);
            RECENT.put(verbs, recent);
        }
        return recent;
    }

    private static String deviceOf(InetAddress address, EventChannel channel, Map<InetAddress, Integer> ports)
            throws VerbsException {
        try (ConnectionId id = ConnectionId.create(channel, PortSpace.TCP)) {
            id.bind(new InetSocketAddress(address, 0));
            Device device = id.device();
            if (device == null) {
                return null;
            }
            ports.put(address, id.port());
            return device.name();
        } catch (VerbsException e) {
            if (e.call().equals("rdma_bind_addr")) {
                return null;
            }
            throw e;
        }
    }

    /** The addresses by the names of all devices, in the order of {@link Device#names(VerbsApi)}. */
    public Map<String, List<InetAddress>> byDevice() {
        return byDevice;
    }

    /** The port of its device that an address belongs to, from 1; 0 if it belongs to none. */
    public int port(InetAddress address) {
        return ports.getOrDefault(address, 0);
    }

    /**
     * Returns an address that leads from this host to itself: the loopback address if a device has it, else the first
     * one that is not link-local, because link-local addresses lead only to others of the link.
     *
     * @param family the class of its kind.
     * @return {@code null} if no device has one.
     */
    public InetAddress ofThisHost(Class<? extends InetAddress> family) {
        InetAddress first = null;
        for (List<InetAddress> addresses : byDevice.values()) {
            for (InetAddress address : addresses) {
                if (!family.isInstance(address) || address.isLinkLocalAddress()) {
                    continue;
                }
                if (address.isLoopbackAddress()) {
                    return address;
                }
                if (first == null) {
                    first = address;
                }
            }
        }
        return first;
    }

    /** A text such as {@code rxe0 has 10.0.0.1, fe80::1%eth0; rxe1 has no address}. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        byDevice.forEach((device, addresses) -> text.append(text.length() == 0 ? "" : "; ").append(device)
                .append(" has ").append(text(addresses)));
        return text.length() == 0 ? "there is no RDMA device" : text.toString();
    }

    /** The addresses of one device, for a person. */
    public String text(String device) {
        return text(byDevice.getOrDefault(device, Collections.emptyList()));
    }

    private static String text(List<InetAddress> addresses) {
        if (addresses.isEmpty()) {
            return "no address";
        }
        StringBuilder text = new StringBuilder();
        for (InetAddress address : addresses.subList(0, Math.min(addresses.size(), MOST_IN_TEXT))) {
            text.append(text.length() == 0 ? "" : ", ").append(NetUtil.toAddressString(address));
        }
        if (addresses.size() > MOST_IN_TEXT) {
            text.append(" and ").append(addresses.size() - MOST_IN_TEXT).append(" more");
        }
        return text.toString();
    }
}
