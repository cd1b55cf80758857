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
package io.netty.channel.rdma.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOutboundBuffer.MessageProcessor;
import io.netty.channel.rdma.memory.CellByteBuf;
import io.netty.util.ReferenceCountUtil;

import java.util.ArrayDeque;

/**
 * Flushed messages whose channel is closed and which are to be sent nevertheless. Their promises fail with the close,
 * and then the application may use memory again of which it has kept a reference. So these bytes are copied.
 *
 * <p>On the loop of the connection.
 */
final class DetachedMessages implements OutboundMessages {
    private final ArrayDeque<Object> messages = new ArrayDeque<>();
    /** Bytes of the message that is added next, which are left out. */
    private int sent;

    private DetachedMessages(int sent) {
        this.sent = sent;
    }

    /**
     * Takes references to messages, or copies; none of what comes after a file that can't be read.
     *
     * @param headSent bytes of the first message that were sent, if that is a buffer.
     */
    static DetachedMessages of(OutboundMessages from, int headSent, ByteBufAllocator alloc) throws Exception {
        DetachedMessages detached = new DetachedMessages(headSent);
        boolean complete = false;
        try {
            from.forEach(msg -> !isUnreadable(msg) && detached.add(msg, alloc));
            complete = true;
            return detached;
        } finally {
            if (!complete) {
                detached.release();
            }
        }
    }

    private boolean add(Object msg, ByteBufAllocator alloc) {
        int leftOut = sent;
        sent = 0;
        if (isShared(msg)) {
            return messages.add(copy((ByteBuf) msg, leftOut, alloc));
        }
        messages.add(ReferenceCountUtil.retain(msg));
        if (leftOut > 0) {
            ((ByteBuf) msg).skipBytes(leftOut);
        }
        return true;
    }

    /**
     * Whether somebody else may change the bytes of a message once its promise is done. Nobody has a reference to a
     * buffer of ours with a single one, unless it is a part of another or wrapped. (File regions don't count, whose
     * bytes are the file's.)
     */
    static boolean isShared(Object msg) {
        return msg instanceof ByteBuf &&
                !((msg instanceof CellByteBuf || msg instanceof LandedByteBuf) && ((ByteBuf) msg).refCnt() == 1);
    }

    private static boolean isUnreadable(Object msg) {
        return msg instanceof OutboundRegion && ((OutboundRegion) msg).failure() != null;
    }

    private static ByteBuf copy(ByteBuf buf, int leftOut, ByteBufAllocator alloc) {
        int length = buf.readableBytes() - leftOut;
        ByteBuf copy = alloc.directBuffer(length, length);
        boolean copied = false;
        try {
            copy.writeBytes(buf, buf.readerIndex() + leftOut, length);
            copied = true;
            return copy;
        } finally {
            if (!copied) {
                copy.release();
            }
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
