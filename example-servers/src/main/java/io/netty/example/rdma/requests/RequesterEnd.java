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

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;
import java.util.Set;

/**
 * Makes requests in rounds: as many requests as there are blocks, and then a message. The responder answers how many of
 * them were wrong, and then the next round begins.
 */
final class RequesterEnd extends VerbsEnd {
    private final Operation operation;
    private final Requests requests;
    private final int size;
    private final long count;
    private final Mistake mistake;
    private long made;
    private long wrong;
    /** Number of awaited events at the end of a round: the completion of its message, and the answer, in any order. */
    private int awaited;

    /** @param mistake {@code null} for none. */
    RequesterEnd(Operation operation, Requests requests, int size, long count, Mistake mistake) {
        super(operation.program(size, count));
        this.operation = operation;
        this.requests = requests;
        this.size = size;
        this.count = count;
        this.mistake = mistake;
        whenClosed(requests::close);
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of());
        if (mistake != null) {
            mistake.configure(config);
        }
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) throws IOException {
        requests.begin(mistake == null ? peer : peer.map(mistake::apply));
        round(ctx);
    }

    private int roundLength() {
        return (int) Math.min(Blocks.COUNT, count - made);
    }

    private void round(ChannelHandlerContext ctx) {
        int length = roundLength();
        for (int i = 0; i < length; i++) {
            // The completion of the message stands for all requests.
            write(ctx, requests.next(ctx.alloc(), made + i).unsignalled());
        }
        RdmaSend message = NumberMessage.of(ctx.alloc(), made + length);
        if (requests.areReads()) {
            // The responder changes the memory that is read when it gets the message.
            message.fenced();
        }
        awaited = 2;
        then(ctx, ctx.writeAndFlush(message), sent -> arrived(ctx));
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        long wrongThere = NumberMessage.read(msg);
        if (awaited == 0 || wrongThere < 0 || wrongThere > roundLength()) {
            throw new IllegalArgumentException("not the answer to a round of " + roundLength() + " requests: "
                    + wrongThere);
        }
        wrong += wrongThere;
        arrived(ctx);
    }

    private void arrived(ChannelHandlerContext ctx) {
        if (--awaited > 0) {
            return;
        }
        for (int length = roundLength(); length > 0; length--) {
            if (!requests.isRight(made++)) {
                wrong++;
            }
        }
        if (made < count) {
            round(ctx);
        } else {
            finish(ctx, operation + " requester", count, size, wrong);
        }
    }
}
