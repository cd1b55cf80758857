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
package io.netty.channel.rdma.connection;

import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.DeviceAddresses;
import io.netty.channel.rdma.verbs.GidEntry;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Providers, device, port and GID of a channel, as far as the application sets them and does not leave them to
 * addresses. The connection manager selects the last three by a local address. So this class chooses a local address
 * that belongs to them, and rejects a given one that does not.
 *
 * <p>Any thread.
 */
public final class DeviceOptions {
    /** The value of {@code GID_INDEX} for the index of the local address. */
    public static final int BY_ADDRESS = -1;

    private static final Set<VerbsProvider> ANY = Collections.unmodifiableSet(EnumSet.allOf(VerbsProvider.class));
    private static final OptionRow<Set<VerbsProvider>> PROVIDERS =
            new OptionRow<>(OptionRow.named("PROVIDERS"), ANY, DeviceOptions::checkProviders);
    private static final OptionRow<String> NAME = new OptionRow<>(OptionRow.named("DEVICE"), "");
    private static final OptionRow<Integer> PORT = OptionRow.number("DEVICE_PORT", 0, 0, 255);
    private static final OptionRow<Integer> GID_INDEX = OptionRow.number("GID_INDEX", BY_ADDRESS, BY_ADDRESS, 255);
    /** The options of channels that have an address. */
    public static final List<OptionRow<?>> ROWS = List.of(PROVIDERS, NAME, PORT, GID_INDEX);

    private final OptionValues values;

    public DeviceOptions(OptionValues values) {
        this.values = values;
    }

    private static Set<VerbsProvider> checkProviders(Set<VerbsProvider> allowed) {
        if (allowed.isEmpty()) {
            throw new IllegalArgumentException("PROVIDERS: [] (expected: at least one of " + ANY + ')');
        }
        return Collections.unmodifiableSet(EnumSet.copyOf(allowed));
    }

    /** The number of the port; 0: any. */
    public int port() {
        return values.get(PORT);
    }

    /** The index in the port's table of global identifiers, or {@link #BY_ADDRESS}. */
    public int gidIndex() {
        return values.get(GID_INDEX);
    }

    /** The name of the device; empty: the device of the address. */
    public String name() {
        return values.get(NAME);
    }

    /**
     * The providers that the channel may use, the nearest one first.
     *
     * @throws NoRdmaDeviceException if no provider fits the options.
     */
    public List<VerbsApi> providers() throws IOException {
        List<VerbsApi> usable = VerbsApi.usable();
        Set<VerbsProvider> allowed = values.get(PROVIDERS);
        if (allowed.containsAll(ANY) && (name().isEmpty() || usable.size() == 1)) {
            return usable;
        }
        List<VerbsApi> chosen = new ArrayList<>(usable.size());
        for (VerbsApi verbs : usable) {
            if (allowed.contains(verbs.provider()) && (name().isEmpty() || Device.isPresent(verbs, name()))) {
                chosen.add(verbs);
            }
        }
        if (chosen.isEmpty()) {
            throw new NoRdmaDeviceException("none of PROVIDERS=" + allowed +
                    (name().isEmpty() ? "" : ", DEVICE=" + name()) + ": this process uses " + usable + " (" +
                    VerbsApi.choice() + ") with the devices " + Device.names());
        }
        return chosen;
    }

    public boolean isSet() {
        return !name().isEmpty() || port() != 0 || gidIndex() != BY_ADDRESS;
    }

    /**
     * The local address to bind to. It is the given one, unless that is the wildcard or missing, and a device, port or
     * GID is chosen.
     *
     * @param verbs the provider of the device.
     * @param local  or {@code null} if none is given.
     * @param remote the peer's address, or {@code null}. Of several local addresses the nearest to it is taken.
     */
    public InetSocketAddress local(VerbsApi verbs, InetSocketAddress local, InetAddress remote) throws IOException {
        if (!isSet() || local != null && !local.getAddress().isAnyLocalAddress()) {
            return local;
        }
        InetAddress near = remote != null ? remote : local != null ? local.getAddress() : null;
        DeviceAddresses addresses = DeviceAddresses.recent(verbs);
        InetAddress best = nearest(verbs, addresses, near);
        if (best == null) {
            addresses = DeviceAddresses.find(verbs);
            best = nearest(verbs, addresses, near);
        }
        if (best == null) {
            throw new NoRdmaDeviceException("no local address is of " + this + "; of the RDMA devices, " + addresses);
        }
        return new InetSocketAddress(best, local == null ? 0 : local.getPort());
    }

    /** The nearest of the addresses that fit the options, or {@code null}. */
    private InetAddress nearest(VerbsApi verbs, DeviceAddresses addresses, InetAddress near) throws IOException {
        InetAddress best = null;
        for (Map.Entry<String, List<InetAddress>> device : addresses.byDevice().entrySet()) {
            if (!name().isEmpty() && !name().equals(device.getKey())) {
                continue;
            }
            for (InetAddress candidate : device.getValue()) {
                if (isChosen(Device.shared(verbs, device.getKey()), addresses.port(candidate), candidate) &&
                        (best == null || rank(candidate, near) > rank(best, near))) {
                    best = candidate;
                }
            }
        }
        return best;
    }

    /**
     * The rank of an address; the highest is the nearest. The same family counts most, then the number of equal leading
     * bits, then whether other hosts can be reached from it.
     */
    private static int rank(InetAddress candidate, InetAddress near) {
        int rank = candidate.isLinkLocalAddress() ? 0 : candidate.isLoopbackAddress() ? 1 : 2;
        if (near != null && near.getClass() == candidate.getClass()) {
            rank += 1000;
            if (!near.isAnyLocalAddress()) {
                rank += 4 * commonBits(candidate.getAddress(), near.getAddress());
            }
        }
        return rank;
    }

    private static int commonBits(byte[] a, byte[] b) {
        int at = Arrays.mismatch(a, b);
        return at < 0 ? a.length * Byte.SIZE
                : at * Byte.SIZE + Integer.numberOfLeadingZeros((a[at] ^ b[at]) & 0xFF) - (Integer.SIZE - Byte.SIZE);
    }

    /**
     * Checks that an id is bound to an address of the device, port and GID that the application has chosen.
     *
     * @throws NoRdmaDeviceException if not.
     */
    public void check(ConnectionId id) throws IOException {
        if (!isSet()) {
            return;
        }
        Device device = id.device();
        InetAddress address = id.localAddress().getAddress();
        if (device == null || !name().isEmpty() && !name().equals(device.name()) ||
                !isChosen(device, id.port(), address)) {
            throw new NoRdmaDeviceException(id.localAddress().getAddress().getHostAddress() + " is " +
                    (device == null ? "of no device" : "of " + device.name() + " port " + id.port()) + ", not of " +
                    this);
        }
    }

    private boolean isChosen(Device device, int ofPort, InetAddress address) throws IOException {
        if (port() != 0 && port() != ofPort) {
            return false;
        }
        if (gidIndex() == BY_ADDRESS) {
            return true;
        }
        // The GIDs of InfiniBand contain no IP addresses, so each GID of the port may be used with any address.
        return !device.portAttributes(ofPort).isEthernet() || device.gids(ofPort).stream()
                .anyMatch(gid -> gid.index() == gidIndex() && gid.address().equals(address));
    }

    /** A text such as {@code rxe0 port 1 GID index 3}. */
    @Override
    public String toString() {
        return (name().isEmpty() ? "any device" : name()) + (port() == 0 ? "" : " port " + port()) +
                (gidIndex() == BY_ADDRESS ? "" : " GID index " + gidIndex());
    }
}
