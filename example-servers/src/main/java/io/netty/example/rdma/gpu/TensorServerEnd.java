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
package io.netty.example.rdma.gpu;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * Lets the client write and read the tensor, and checks it after each round, when the client has said so.
 */
final class TensorServerEnd extends VerbsEnd {
    private final TensorOptions options;
    private final Tensor tensor;
    private long rounds;
    private long wrong;
    private long startNanos;

    TensorServerEnd(TensorOptions options, Tensor tensor) {
        super(options.program());
        this.options = options;
        this.tensor = tensor;
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS,
                Set.of(RdmaPermission.REMOTE_READ, RdmaPermission.REMOTE_WRITE));
    }

    @Override
    protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        return List.of(channel.export(tensor.registered()));
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) {
        startNanos = System.nanoTime();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) throws IOException {
        long round = NumberMessage.read(msg);
        if (round != rounds++) {
            throw new IllegalArgumentException("the peer has made round " + round + " (expected: " + (rounds - 1)
                    + ')');
        }
        wrong += tensor.matches(round) ? 0 : 1;
        writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), wrong));
        if (rounds == options.verbs().count()) {
            finish(ctx, new Result(options.way().text() + ", server", rounds, tensor.size(), wrong,
                    System.nanoTime() - startNanos));
        }
    }
}
