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
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;
import java.util.List;

/**
 * Checks each round of requests when the requester's message comes, and answers how many of them were wrong.
 */
final class ResponderEnd extends VerbsEnd {
    /** Number of receives: enough for a round and its message. A peer that sends more has to wait. */
    private static final int RECEIVES = 2 * Blocks.COUNT;

    private final Operation operation;
    private final Responses responses;
    private final int size;
    private final long count;
    private final Mistake mistake;
    /** Number of requests in the rounds that are checked. */
    private long checked;
    private int messages;
    private int wrongMessages;
    private long wrong;

    /** @param mistake {@code null} for none. */
    ResponderEnd(Operation operation, Responses responses, int size, long count, Mistake mistake) {
        super(operation.program(size, count));
        this.operation = operation;
        this.responses = responses;
        this.size = size;
        this.count = count;
        this.mistake = mistake;
        whenClosed(responses::close);
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, responses.permissions());
        if (responses.areMessages()) {
            config.setOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, longestMessage());
            config.setOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, RECEIVES);
        }
        config.setOption(RdmaChannelOption.MANUAL_RECEIVES, hasReceivesOfItsOwn());
        if (mistake != null) {
            mistake.configure(config);
        }
    }

    private boolean hasReceivesOfItsOwn() {
        return responses.areInLists() || mistake == Mistake.NO_RECEIVE;
    }

    private int longestMessage() {
        return mistake == Mistake.SHORT_RECEIVE ? Introduction.MAX_LENGTH : Math.max(size, Introduction.MAX_LENGTH);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        if (mistake == Mistake.NO_RECEIVE) {
            ctx.pipeline().addFirst(new ListReceiver(1, longestMessage(), false));
        } else if (responses.areInLists()) {
            ctx.pipeline().addFirst(new ListReceiver(RECEIVES, longestMessage(), true));
        }
    }

    @Override
    protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        List<RemoteMemory> memory = responses.export(channel);
        responses.prepare(0, roundLength());
        return memory;
    }

    private int roundLength() {
        return (int) Math.min(Blocks.COUNT, count - checked);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        int length = roundLength();
        if (responses.areMessages() && messages < length) {
            if (!responses.isRight(checked + messages++, msg)) {
                wrongMessages++;
            }
            return;
        }
        long made = NumberMessage.read(msg);
        if (made != checked + length) {
            throw new IllegalArgumentException("the peer has made " + made + " requests (expected: "
                    + (checked + length) + ')');
        }
        // All bytes that were written before the message was sent can be read now.
        int wrongNow = Math.min(length, wrongMessages + responses.wrong(checked, length));
        wrong += wrongNow;
        checked = made;
        messages = 0;
        wrongMessages = 0;
        responses.prepare(checked, roundLength());
        writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), wrongNow));
        if (checked == count) {
            finish(ctx, operation + " responder", count, size, wrong);
        }
    }
}
