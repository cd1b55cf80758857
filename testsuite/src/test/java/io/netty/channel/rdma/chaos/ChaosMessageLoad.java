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
package io.netty.channel.rdma.chaos;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaFetchAndAdd;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.channel.rdma.support.Generated;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Queue;

/**
 * Sends, writes, reads and atomic operations in each direction. The first message of each end tells where its memory
 * is; the others are numbered by the position of their bytes.
 */
final class ChaosMessageLoad extends ChaosLoad {
    private static final int MAX_PENDING = 16;
    private static final int MAX_MESSAGE = 4096 - Long.BYTES;
    /** The peer reads the first part, which never changes, writes the second, and adds to the last bytes. */
    private static final int PART = 1 << 17;
    private static final int MEMORY = 2 * PART + Long.BYTES;

    private RegisteredMemory memory;
    private RemoteMemory remote;
    private long sent;

    ChaosMessageLoad(long seed, Queue<String> violations) {
        super(seed, violations);
    }

    @Override
    void begin(ChannelHandlerContext ctx) throws IOException {
        memory = RegisteredMemory.allocate(MEMORY, EnumSet.allOf(RdmaPermission.class));
        byte[] readable = new byte[PART];
        Generated.fill(readable, 0);
        memory.buf().setBytes(0, readable);
        ByteBuf blob = ctx.alloc().buffer();
        ((RdmaMessageChannel) ctx.channel()).export(memory).write(blob);
        write(ctx, new RdmaSend(blob));
        ctx.flush();
    }

    @Override
    void send(ChannelHandlerContext ctx) {
        boolean written = false;
        while (remote != null && isActive() && ctx.channel().isWritable() && pending() < MAX_PENDING) {
            int length = random.nextInt(1 << random.nextInt(18));
            int offset = random.nextInt(PART - length + 1);
            switch (random.nextInt(8)) {
            case 0:
                read(ctx, length, offset);
                break;
            case 1:
                write(ctx, new RdmaWrite(Generated.bytes(ctx.alloc(), offset, length), remote, PART + offset));
                break;
            case 2:
                write(ctx, new RdmaFetchAndAdd(remote, 2L * PART, 1));
                break;
            default:
                length = Math.min(length, MAX_MESSAGE);
                ByteBuf message = ctx.alloc().directBuffer().writeLong(sent);
                byte[] bytes = new byte[length];
                Generated.fill(bytes, sent);
                sent += length;
                write(ctx, new RdmaSend(message.writeBytes(bytes)));
            }
            written = true;
        }
        if (written) {
            ctx.flush();
        }
    }

    private void read(ChannelHandlerContext ctx, int length, int offset) {
        ByteBuf destination = ctx.alloc().directBuffer(length, length);
        write(ctx, new RdmaRead(destination, remote, offset)).addListener(future -> {
            if (future.isSuccess() && !Generated.matches(destination, offset)) {
                violation("wrong bytes were read at " + offset + ": " + destination);
            }
            destination.release();
        });
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        RdmaReceive message = (RdmaReceive) msg;
        try {
            if (remote == null) {
                remote = RemoteMemory.read(message.content());
                send(ctx);
                return;
            }
            long position = message.content().readLong();
            int length = message.content().readableBytes();
            if (position == received() && Generated.matches(message.content(), position)) {
                addReceived(length);
            } else {
                violation("message " + position + " is wrong (expected: " + received() + ')');
            }
        } finally {
            message.release();
        }
        pauseReading(ctx);
    }

    @Override
    void release() {
        if (memory != null) {
            memory.close();
        }
    }
}
