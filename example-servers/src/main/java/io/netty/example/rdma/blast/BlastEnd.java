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

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.example.rdma.verbs.Counts;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.NumberedData;
import io.netty.example.rdma.verbs.VerbsEnd;

/**
 * Common part of both ends. A message between them is the number of operations that are done, negative if no more
 * follow. At the end, both exchange their counts.
 */
abstract class BlastEnd extends VerbsEnd {
    protected final Barrage barrage;
    private long wrong;
    /** Counts that this end has sent to the other one. */
    private Counts counts;

    BlastEnd(Barrage barrage) {
        super(barrage.toString());
        this.barrage = barrage;
    }

    /** Handles a number from the peer. */
    abstract void message(ChannelHandlerContext ctx, long number);

    @Override
    protected final void channelRead0(ChannelHandlerContext ctx, RdmaReceive message) {
        if (!Counts.isIn(message)) {
            message(ctx, NumberMessage.read(message));
            return;
        }
        if (counts == null) {
            throw new IllegalArgumentException("the peer has counted before the end");
        }
        System.out.println(counts.with(Counts.read(message)));
        finish(ctx, "blast " + barrage.mode(), counts.done(), barrage.size(), wrong);
    }

    /** Checks the contents that operations have left in memory, the last ones in each place. */
    final void check(ByteBuf slots, long first, long end) {
        for (long i = Math.max(first, end - barrage.slots()); i < end; i++) {
            if (!NumberedData.matches(slots.slice(barrage.offset(i), barrage.size()), barrage.data(i))) {
                wrong++;
            }
        }
    }

    /** Sends the counts of this end: no more operations follow. */
    final void count(ChannelHandlerContext ctx, long operations) {
        counts = new Counts(operations, wrong);
        writeAndFlush(ctx, counts.message(ctx.alloc()));
    }
}
