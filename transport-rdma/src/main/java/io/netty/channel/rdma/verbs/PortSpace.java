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

import io.netty.util.internal.UnstableApi;

/**
 * The port space of a connection id ({@code enum rdma_port_space}, rdma_create_id(3)). RDMA port numbers are separate:
 * an RDMA port never collides with a TCP port of the host.
 */
@UnstableApi
public enum PortSpace {
    /** Reliable connections. */
    TCP(0x0106),
    /** Unreliable datagrams. */
    UDP(0x0111);

    final int value;

    PortSpace(int value) {
        this.value = value;
    }
}
