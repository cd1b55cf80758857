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
package io.netty.example.rdma.pubsub;

import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RemoteMemory;

import java.io.IOException;
import java.util.Set;

/**
 * The publisher's memory, which all subscribers read. Each edition replaces the one before while they do.
 */
final class SharedMemory implements Outlet {
    private final Edition format;
    private final RegisteredMemory memory;

    SharedMemory(Edition format) throws IOException {
        this.format = format;
        memory = RegisteredMemory.allocate(format.length(), Set.of(RdmaPermission.REMOTE_READ));
        format.write(memory.buf(), 0);
    }

    RemoteMemory export(RdmaMessageChannel channel) throws IOException {
        return channel.export(memory);
    }

    @Override
    public void publish(long number) {
        format.write(memory.buf(), number);
    }

    @Override
    public void close() {
        memory.close();
    }
}
