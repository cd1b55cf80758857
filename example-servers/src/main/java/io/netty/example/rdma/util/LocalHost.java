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
package io.netty.example.rdma.util;

import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.verbs.DeviceAddresses;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;

/**
 * The address by which this host reaches itself with every transport. It is 127.0.0.1, unless there are RDMA devices: a
 * loopback address does not lead to a device.
 */
public final class LocalHost {
    private LocalHost() {
    }

    public static String address() throws IOException {
        InetAddress own = Rdma.isAvailable() ? DeviceAddresses.find().ofThisHost(Inet4Address.class) : null;
        return own == null ? "127.0.0.1" : own.getHostAddress();
    }
}
