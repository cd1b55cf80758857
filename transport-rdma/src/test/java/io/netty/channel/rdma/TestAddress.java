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

import io.netty.channel.rdma.verbs.DeviceAddresses;
import io.netty.util.internal.SystemPropertyUtil;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * An address of the device that the tests use: a kernel device has no loopback address.
 */
public final class TestAddress {
    public static final String HOST = SystemPropertyUtil.get("io.netty.rdma.test.address", "127.0.0.1");

    private TestAddress() {
    }

    /** To bind a free port. */
    public static InetSocketAddress anyPort() {
        return new InetSocketAddress(HOST, 0);
    }

    /** The name of the device that has the address. */
    public static String device() throws IOException {
        InetAddress address = InetAddress.getByName(HOST);
        for (Map.Entry<String, List<InetAddress>> device : DeviceAddresses.find().byDevice().entrySet()) {
            if (device.getValue().contains(address)) {
                return device.getKey();
            }
        }
        throw new AssertionError("no device has " + HOST);
    }

    /** Address of a group that other runs of the tests on this machine or network hardly use. */
    public static InetAddress anyGroup() {
        byte[] address = new byte[4];
        ThreadLocalRandom.current().nextBytes(address);
        address[0] = (byte) 239;
        // Organization-local scope, RFC 2365.
        address[1] = (byte) (192 + (address[1] & 3));
        try {
            return InetAddress.getByAddress(address);
        } catch (UnknownHostException e) {
            // Only thrown for a wrong number of bytes.
            throw new AssertionError(e);
        }
    }
}
