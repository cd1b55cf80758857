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
package io.netty.channel.rdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer.MessageProcessor;
import io.netty.util.ReferenceCountUtil;

import java.util.ArrayDeque;

/**
 * Flushed messages whose channel is closed and which are to be sent nevertheless. Their promises were told with the
 * close. Buffers are held as duplicates, since the application may go on using the indices of its own.
 *
 * <p>On the loop of the connection.
 */
final class LeftMessages implements OutboundMessages {
    private final ArrayDeque<Object> messages = new ArrayDeque<>();

    /** Takes references to messages. */
    LeftMessages(OutboundMessages from) {
        try {
            from.forEach(msg -> messages.add(
                    msg instanceof ByteBuf ? ((ByteBuf) msg).retainedDuplicate() : ReferenceCountUtil.retain(msg)));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Object current() {
        return messages.peek();
    }

    @Override
    public void forEach(MessageProcessor processor) throws Exception {
        for (Object msg : messages) {
            if (!processor.processMessage(msg)) {
                return;
            }
        }
    }

    @Override
    public void progress(long bytes) {
        // Nobody waits for it.
    }

    @Override
    public void remove() {
        ReferenceCountUtil.release(messages.poll());
    }

    void release() {
        while (!messages.isEmpty()) {
            remove();
        }
    }
}
