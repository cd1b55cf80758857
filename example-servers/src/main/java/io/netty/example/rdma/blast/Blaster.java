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
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaOperation;
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.NumberedData;
import io.netty.example.rdma.verbs.OperationTimes;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

/**
 * End that writes or reads, chain after chain: the client, or the server with {@code --by-server}. Each chain is posted
 * with one flush. Only its last operation has a promise, which stands for all of them. The next chain follows when the
 * promise is done. With the check of writes, it follows when the other end says that it has checked the chain.
 */
class Blaster extends BlastEnd {
    /** Minimum size of operations whose rate is shown in bytes. Smaller operations are counted one by one. */
    private static final int MIN_BYTES_SIZE = 1024;

    private final OperationTimes times;
    /** Times at which the chains in flight were posted. */
    private final Queue<Long> postedNanos = new ArrayDeque<>();
    private RemoteMemory remote;
    /** Bytes to write. */
    NumberedData data;
    /** Target of reads. */
    private ByteBuf copies;
    /** Operations that were posted. */
    private long posted;
    /** Operations whose chains are done. */
    private long done;
    /** Number of all operations, known when the measured ones begin. */
    private long total = Long.MAX_VALUE;

    Blaster(Barrage barrage) {
        super(barrage);
        times = new OperationTimes(barrage.count(), barrage.warmUp());
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.SEND_QUEUE_DEPTH, barrage.queueDepth());
    }

    @Override
    protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        if (barrage.mode() == BlastMode.WRITE) {
            data = new NumberedData(barrage.size());
            whenClosed(data::close);
        } else {
            int length = barrage.size() * barrage.slots();
            copies = channel.alloc().directBuffer(length, length).setZero(0, length);
            whenClosed(copies::release);
        }
        return List.of();
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) {
        remote = peer.memory(0, (long) barrage.size() * barrage.remoteSlots());
        times.begin();
        countFromNow();
        for (int i = 0; i < Barrage.CHAINS; i++) {
            post(ctx);
        }
    }

    /** Starts the measured operations if the warm-up is over. At least one operation is still to come. */
    private void countFromNow() {
        if (total == Long.MAX_VALUE && times.isCounting()) {
            total = Math.max(posted + 1, done + barrage.count());
        }
    }

    /** Length of the chain that begins with this operation. The last chain may be shorter. */
    private int chainLength(long first) {
        return (int) Math.min(barrage.chain(), total - first);
    }

    private void post(ChannelHandlerContext ctx) {
        long first = posted;
        int length = chainLength(first);
        if (length == 0) {
            return;
        }
        postedNanos.add(System.nanoTime());
        posted += length;
        long end = posted;
        for (long i = first; i < end - 1; i++) {
            ctx.write(operation(i), ctx.voidPromise());
        }
        ctx.write(operation(end - 1)).addListener(future -> {
            if (future.isSuccess()) {
                completed(ctx, first, end);
            } else {
                ctx.fireExceptionCaught(future.cause());
            }
        });
        if (isAnswered(end)) {
            tell(ctx, end);
        }
        ctx.flush();
    }

    private void tell(ChannelHandlerContext ctx, long end) {
        write(ctx, NumberMessage.of(ctx.alloc(), end == total ? -end : end));
    }

    /** Returns whether the other end answers after this number of writes, because it has checked them. */
    private boolean isAnswered(long end) {
        return barrage.mode() == BlastMode.WRITE && (barrage.check() || end == total);
    }

    private RdmaOperation operation(long number) {
        if (barrage.mode() == BlastMode.WRITE) {
            return new RdmaWrite(data.message(barrage.data(number)).retain(), remote, barrage.remoteOffset(number));
        }
        ByteBuf copy = copies.slice(barrage.offset(number), barrage.size()).clear();
        return new RdmaRead(copy, remote, barrage.remoteOffset(number));
    }

    private void completed(ChannelHandlerContext ctx, long first, long end) {
        if (isAnswered(end)) {
            return;
        }
        if (barrage.mode() == BlastMode.READ && (barrage.check() || end == total)) {
            check(copies, first, end);
        }
        chainDone(ctx, end);
    }

    @Override
    void message(ChannelHandlerContext ctx, long number) {
        long expected = done + chainLength(done);
        if (number != expected || number > posted || !isAnswered(number)) {
            throw new IllegalArgumentException("the peer has looked at " + number + " operations (expected: "
                    + expected + ')');
        }
        chainDone(ctx, number);
    }

    private void chainDone(ChannelHandlerContext ctx, long end) {
        times.ended((int) (end - done), postedNanos.remove());
        done = end;
        countFromNow();
        if (done < total) {
            post(ctx);
            return;
        }
        told(times.windows());
        System.out.println(times.measurement(barrage.name(), barrage.size() < MIN_BYTES_SIZE ? 0 : barrage.size()));
        if (barrage.mode() == BlastMode.READ) {
            tell(ctx, done);
            ctx.flush();
        }
        count(ctx, done);
    }
}
