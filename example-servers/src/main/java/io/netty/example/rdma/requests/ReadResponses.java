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
package io.netty.example.rdma.requests;

import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RemoteMemory;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * Has blocks that are read: other ones in each round.
 */
class ReadResponses extends Responses {
    private static final Set<RdmaPermission> PERMISSIONS = Set.of(RdmaPermission.REMOTE_READ);

    private final int size;
    Blocks blocks;

    ReadResponses(int size) {
        this.size = size;
    }

    @Override
    final Set<RdmaPermission> permissions() {
        return PERMISSIONS;
    }

    @Override
    final List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        blocks = new Blocks(size, PERMISSIONS);
        return blocks.export(channel);
    }

    @Override
    void prepare(long first, int count) {
        for (int i = 0; i < count; i++) {
            blocks.fill(first + i);
        }
    }

    @Override
    public final void close() {
        if (blocks != null) {
            blocks.close();
        }
    }
}
