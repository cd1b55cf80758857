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
package io.netty.channel.rdma.agent.options;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;

/**
 * A pattern of addresses with ports: {@code [!]HOST[/BITS][:PORT[-PORT]]}. The host is a name as in the application, an
 * address, an IPv6 address in brackets, or {@code *}. {@code !} stands for TCP. Any thread.
 */
public final class AddressPattern {
    private static final int MAX_PORT = 65535;

    private final String text;
    private final boolean rdma;
    /** {@code null} for all. */
    private final String name;
    /** {@code null} if the pattern has a name. */
    private final byte[] network;
    private final int bits;
    private final int firstPort;
    private final int lastPort;

    private AddressPattern(String text) {
        this.text = text;
        rdma = !text.startsWith("!");
        String rest = rdma ? text : text.substring(1);
        int colon = rest.startsWith("[") ? rest.indexOf(':', Math.max(0, rest.indexOf(']'))) : rest.indexOf(':');
        String ports = colon < 0 ? "*" : rest.substring(colon + 1);
        String host = colon < 0 ? rest : rest.substring(0, colon);
        int slash = host.indexOf('/');
        String length = slash < 0 ? null : host.substring(slash + 1);
        host = slash < 0 ? host : host.substring(0, slash);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        check(!host.isEmpty());
        name = host.equals("*") ? null : host;
        network = name == null ? null : address(name);
        check(length == null || network != null);
        bits = network == null ? 0 : length == null ? network.length * 8 : number(length, network.length * 8);
        int dash = ports.indexOf('-');
        if (ports.equals("*")) {
            firstPort = 0;
            lastPort = MAX_PORT;
        } else {
            firstPort = number(dash < 0 ? ports : ports.substring(0, dash), MAX_PORT);
            lastPort = dash < 0 ? firstPort : number(ports.substring(dash + 1), MAX_PORT);
        }
        check(firstPort <= lastPort);
    }

    /** @throws IllegalArgumentException that says what is wrong. */
    public static AddressPattern parse(String text) {
        return new AddressPattern(text);
    }

    private void check(boolean ok) {
        if (!ok) {
            throw new IllegalArgumentException("'" + text + "' is no pattern [!]HOST[/BITS][:PORT[-PORT]]. HOST is a " +
                    "name, an address, one of IPv6 in brackets, or *");
        }
    }

    private int number(String digits, int max) {
        check(digits.matches("[0-9]{1,5}"));
        int number = Integer.parseInt(digits);
        check(number <= max);
        return number;
    }

    /** The bytes of a literal address, which asks no name service, or {@code null}. */
    private static byte[] address(String host) {
        if (!host.matches("[0-9]+(\\.[0-9]+){3}") && !host.contains(":")) {
            return null;
        }
        try {
            return InetAddress.getByName(host).getAddress();
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("'" + host + "' is no address", e);
        }
    }

    /**
     * Returns whether an address may have RDMA. The first matching pattern decides. Without a match RDMA is allowed,
     * unless there is a pattern without {@code !}.
     */
    public static boolean allows(List<AddressPattern> patterns, InetSocketAddress address) {
        boolean otherwise = true;
        for (AddressPattern pattern : patterns) {
            if (pattern.matches(address)) {
                return pattern.rdma;
            }
            otherwise &= !pattern.rdma;
        }
        return otherwise;
    }

    private boolean matches(InetSocketAddress address) {
        return address.getPort() >= firstPort && address.getPort() <= lastPort && (name == null ||
                (network == null ? name.equalsIgnoreCase(address.getHostString()) : isInNetwork(address)));
    }

    private boolean isInNetwork(InetSocketAddress address) {
        if (address.isUnresolved() || address.getAddress().getAddress().length != network.length) {
            return false;
        }
        byte[] bytes = address.getAddress().getAddress();
        for (int i = 0; i < bits; i++) {
            if ((bytes[i / 8] ^ network[i / 8]) >> 7 - i % 8 << 31 != 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        return text;
    }
}
