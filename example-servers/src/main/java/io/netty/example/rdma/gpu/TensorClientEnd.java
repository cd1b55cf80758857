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
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;
import java.util.Set;

/**
 * Writes the tensor to the server's memory and reads it back, and checks what came back.
 */
final class TensorClientEnd extends VerbsEnd {
    private final TensorOptions options;
    private final Tensor tensor;
    private RemoteMemory remote;
    private long round;
    private long wrong;
    private long startNanos;
    /** Time of the writes and reads, without the checks. */
    private long nanos;

    TensorClientEnd(TensorOptions options, Tensor tensor) {
        super(options.program());
        this.options = options;
        this.tensor = tensor;
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of());
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) throws IOException {
        remote = peer.memory(0, tensor.size());
        next(ctx);
    }

    private void next(ChannelHandlerContext ctx) throws IOException {
        tensor.fill(round);
        startNanos = System.nanoTime();
        operate(ctx, new RdmaWrite(tensor.slice(), remote, 0), () -> {
            nanos += System.nanoTime() - startNanos;
            tensor.clear();
            startNanos = System.nanoTime();
            operate(ctx, new RdmaRead(tensor.slice(), remote, 0), () -> {
                nanos += System.nanoTime() - startNanos;
                wrong += tensor.matches(round) ? 0 : 1;
                writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), round));
            });
        });
    }

    /** Step after an operation. */
    private interface Step {
        void take() throws IOException;
    }

    private void operate(ChannelHandlerContext ctx, Object operation, Step then) {
        ctx.writeAndFlush(operation).addListener(future -> {
            if (!future.isSuccess()) {
                exceptionCaught(ctx, future.cause());
                return;
            }
            try {
                then.take();
            } catch (IOException e) {
                exceptionCaught(ctx, e);
            }
        });
    }

    /** The server has checked its tensor. */
    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) throws IOException {
        long wrongThere = NumberMessage.read(msg);
        if (++round < options.verbs().count()) {
            next(ctx);
        } else {
            finish(ctx, new Result(options.way().text() + TensorClient.RESULT, round, 2L * tensor.size(),
                    wrong + wrongThere, nanos));
        }
    }
}
