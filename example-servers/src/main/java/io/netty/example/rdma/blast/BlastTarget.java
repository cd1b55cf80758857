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
package io.netty.example.rdma.blast;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.NumberedData;

import java.io.IOException;
import java.util.List;

/**
 * End that has the memory: the server, or the client with {@code --by-server}. A message tells it to check what was
 * written. The data are there then, because a message does not overtake writes of the same channel.
 */
class BlastTarget extends BlastEnd {
    /** {@code null} without a channel. */
    RegisteredMemory memory;
    private long done;

    BlastTarget(Barrage barrage) {
        super(barrage);
    }

    @Override
    protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        memory = barrage.remoteMemory();
        whenClosed(memory::close);
        if (barrage.mode() == BlastMode.READ) {
            try (NumberedData data = new NumberedData(barrage.size())) {
                for (int i = 0; i < barrage.remoteSlots(); i++) {
                    memory.buf().setBytes(barrage.remoteOffset(i), data.message(barrage.data(i)), 0, barrage.size());
                }
            }
        }
        return List.of(channel.export(memory));
    }

    @Override
    void message(ChannelHandlerContext ctx, long number) {
        boolean last = number < 0;
        long end = Math.abs(number);
        if (end <= done || !last && end - done > barrage.chain()) {
            throw new IllegalArgumentException("the peer has done " + end + " operations (expected: more than "
                    + done + ", and at most " + barrage.chain() + " more)");
        }
        if (barrage.mode() == BlastMode.WRITE) {
            check(memory.buf(), done, end);
            // Now the places may be written to again.
            writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), end));
        }
        done = end;
        if (last) {
            count(ctx, done);
        }
    }

    @Override
    protected boolean isPassive() {
        return true;
    }
}
