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
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RemoteMemory;

import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Has memory for blocks that are written by the requester. It looks at them when it is told to: by a message after a
 * round, or by the immediate data of each.
 */
class WriteResponses extends Responses {
    private final int size;
    private final boolean immediate;
    Blocks blocks;

    WriteResponses(int size, boolean immediate) {
        this.size = size;
        this.immediate = immediate;
    }

    @Override
    final Set<RdmaPermission> permissions() {
        return Set.of(RdmaPermission.REMOTE_WRITE);
    }

    @Override
    final List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        blocks = new Blocks(size, EnumSet.of(RdmaPermission.REMOTE_WRITE, RdmaPermission.LOCAL_WRITE));
        return blocks.export(channel);
    }

    @Override
    final boolean areMessages() {
        return immediate;
    }

    @Override
    boolean isRight(long number, RdmaReceive message) {
        return message.hasImmediate() && message.immediate() == (int) number && message.length() == size
                && blocks.matches(number);
    }

    @Override
    int wrong(long first, int count) {
        int wrong = 0;
        for (int i = 0; i < count; i++) {
            if (!blocks.matches(first + i)) {
                wrong++;
            }
        }
        return wrong;
    }

    @Override
    public final void close() {
        if (blocks != null) {
            blocks.close();
        }
    }
}
