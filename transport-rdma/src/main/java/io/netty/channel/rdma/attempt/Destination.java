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
package io.netty.channel.rdma.attempt;

import io.netty.util.internal.ObjectUtil;

import java.net.InetSocketAddress;

/**
 * A destination whose failures are remembered: an address, and the restriction of the connect to a local address or
 * device. A failure from one local address or by one device says nothing about others.
 *
 * @param from an immutable value; {@code null} without a restriction.
 */
public record Destination(InetSocketAddress address, Object from) {
    public Destination {
        ObjectUtil.checkNotNull(address, "address");
    }

    /** Creates a destination without a restriction. */
    public Destination(InetSocketAddress address) {
        this(address, null);
    }
}
