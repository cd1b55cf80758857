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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.FutureListener;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/**
 * The sending half of {@link RdmaRendezvousHandler}: short messages are sent, longer ones announced. It keeps the
 * memory of these registered until the peer has answered, and their order. On the loop of the channel.
 */
final class RendezvousSender {
    /** The most messages that are announced and not answered; the peer accepts no more. */
    static final int MAX_ANNOUNCED = 16;
    /**
     * The most messages behind an announcement without an answer. So a long message never makes the peer stop reading.
     * Both ends would wait for each other, because RDMA reads wait behind messages without a receive.
     */
    static final int MAX_BEHIND = 64;
    /** The most bytes that cost less to copy than another element of the work request. */
    private static final int COPIED = 512;

    private final ChannelHandlerContext ctx;
    private final int threshold;
    /** Messages behind one that can't be announced yet. */
    private final Queue<Message> waiting = new ArrayDeque<>();
    /** The oldest one first. */
    private final Map<Integer, Message> announced = new LinkedHashMap<>();
    private int nextId = 1;
    private long nextPlace;
    private boolean pumping;

    /** @param threshold the length of the longest message that is sent without being announced. */
    RendezvousSender(ChannelHandlerContext ctx, int threshold) {
        this.ctx = ctx;
        this.threshold = threshold;
    }

    /** A message that was written. */
    private static final class Message {
        final RdmaSend send;
        final ChannelPromise promise;
        final List<RegisteredMemory> memory = new ArrayList<>(1);
        int id;
        /** The place in the order of all messages. */
        long place;

        Message(RdmaSend send, ChannelPromise promise) {
            this.send = send;
            this.promise = promise;
        }

        RegisteredMemory own(RegisteredMemory registered) {
            try {
                memory.add(registered);
                return registered;
            } catch (OutOfMemoryError e) {
                registered.release();
                throw e;
            }
        }

        void release() {
            for (RegisteredMemory each : memory) {
                each.release();
            }
            memory.clear();
            send.release();
        }
    }

    /** Returns whether answers of the peer are to come. */
    boolean isWaiting() {
        return !announced.isEmpty();
    }

    /** Returns whether no message waits for answers to earlier ones. */
    boolean isWritable() {
        return waiting.isEmpty();
    }

    /** @param msg a buffer or an {@link RdmaSend}, of which this becomes the owner. */
    void write(Object msg, ChannelPromise promise) {
        try {
            RdmaSend send = msg instanceof ByteBuf ? new RdmaSend((ByteBuf) msg) : (RdmaSend) msg;
            waiting.add(new Message(send, promise.unvoid()));
        } catch (OutOfMemoryError e) {
            ReferenceCountUtil.release(msg);
            promise.tryFailure(e);
            return;
        }
        pump();
    }

    private void pump() {
        if (pumping) {
            return;
        }
        pumping = true;
        try {
            for (Message message; (message = waiting.peek()) != null;) {
                int length = message.send.length();
                boolean isLong = length > (message.send.isLocal() ? 0 : threshold);
                if (message.promise.isCancelled()) {
                    waiting.remove();
                    message.release();
                    continue;
                }
                if (isLong && announced.size() >= MAX_ANNOUNCED || isFarAhead()) {
                    return;
                }
                waiting.remove();
                message.place = nextPlace++;
                if (isLong) {
                    announce(message);
                } else {
                    send(message);
                }
            }
        } finally {
            pumping = false;
        }
    }

    private boolean isFarAhead() {
        return !announced.isEmpty() && nextPlace - announced.values().iterator().next().place > MAX_BEHIND;
    }

    private void send(Message message) {
        int length = message.send.length();
        ByteBuf frame = null;
        RdmaSend send;
        try {
            ByteBuf content = message.send.content();
            content.writerIndex(content.readerIndex() + length);
            frame = ctx.alloc().buffer(RendezvousFrame.HEADER_LENGTH + (length <= COPIED ? length : 0));
            RendezvousFrame.writeHeader(frame, RendezvousFrame.MESSAGE, 0, length);
            if (length <= COPIED) {
                frame.writeBytes(content, content.readerIndex(), length);
            } else {
                ByteBuf header = frame;
                CompositeByteBuf both = ctx.alloc().compositeBuffer(2);
                frame = both;
                both.addComponent(true, header).addComponent(true, content.retain());
            }
            send = message.send.flagged(new RdmaSend(frame));
        } catch (RuntimeException | OutOfMemoryError e) {
            fail(message, frame, e);
            return;
        }
        message.release();
        // The application's limit is for its bytes without the header.
        send.length(Integer.MAX_VALUE);
        ctx.write(send, message.promise);
    }

    private void announce(Message message) {
        ByteBuf frame = null;
        RdmaSend send;
        FutureListener<Void> written;
        try {
            List<RemoteMemory> pieces = export(message);
            frame = ctx.alloc().buffer(RendezvousFrame.HEADER_LENGTH + pieces.size() * RendezvousFrame.PIECE_LENGTH);
            message.id = nextId++;
            RendezvousFrame.writeAnnouncement(frame, message.id, pieces);
            send = new RdmaSend(frame);
            written = future -> {
                if (!future.isSuccess()) {
                    end(message, future.cause());
                }
            };
            message.promise.addListener(future -> {
                if (future.isCancelled()) {
                    cancel(message);
                }
            });
            announced.put(message.id, message);
        } catch (Exception | OutOfMemoryError e) {
            fail(message, frame, e);
            return;
        }
        ctx.write(send).addListener(written);
    }

    private static void fail(Message message, ByteBuf frame, Throwable cause) {
        if (frame != null) {
            frame.release();
        }
        message.release();
        message.promise.tryFailure(cause);
    }

    /** Registers the bytes for the peer, in a few pieces. */
    private List<RemoteMemory> export(Message message) throws IOException {
        List<RemoteMemory> pieces = new ArrayList<>(1);
        if (message.send.isLocal()) {
            int left = message.send.length();
            for (RegisteredSlice slice : message.send.local()) {
                int length = Math.min(left, slice.length());
                left -= length;
                if (!slice.memory().permissions().contains(RdmaPermission.REMOTE_READ)) {
                    throw new IllegalArgumentException("a message in the " + slice.memory() +
                            " (expected: REMOTE_READ, since the peer reads it)");
                }
                if (length > 0) {
                    message.own((RegisteredMemory) slice.memory().retain());
                    pieces.add(channel().export(slice.memory()).slice(slice.offset(), length));
                }
            }
            if (pieces.isEmpty() || pieces.size() > RendezvousFrame.MAX_PIECES) {
                throw new IllegalArgumentException("a message in " + pieces.size() + " slices (expected: at most " +
                        RendezvousFrame.MAX_PIECES + ')');
            }
            return pieces;
        }
        ByteBuf content = message.send.content();
        int from = content.readerIndex();
        int length = message.send.length();
        List<ByteBuf> parts = content instanceof CompositeByteBuf ? ((CompositeByteBuf) content).decompose(from, length)
                : List.of(content.slice(from, length));
        boolean inPlace = parts.size() <= RendezvousFrame.MAX_PIECES;
        for (ByteBuf part : parts) {
            inPlace &= part.hasMemoryAddress();
        }
        if (!inPlace) {
            RegisteredMemory copy =
                    message.own(RegisteredMemory.allocate(length, EnumSet.of(RdmaPermission.REMOTE_READ)));
            content.getBytes(from, copy.buf(), 0, length);
            pieces.add(channel().export(copy));
            return pieces;
        }
        for (ByteBuf part : parts) {
            if (part.isReadable()) {
                pieces.add(channel().export(message.own(
                        RegisteredMemory.of(part.slice(), EnumSet.of(RdmaPermission.REMOTE_READ)))));
            }
        }
        return pieces;
    }

    private RdmaMessageChannel channel() {
        return (RdmaMessageChannel) ctx.channel();
    }

    private void cancel(Message message) {
        if (announced.get(message.id) == message) {
            // The memory stays until the peer has answered, because the peer may be reading it.
            ctx.writeAndFlush(RendezvousFrame.control(ctx.alloc(), RendezvousFrame.CANCELLATION, message.id, 0));
        }
    }

    /**
     * Takes an answer of the peer.
     *
     * @throws IllegalArgumentException if nothing was announced by this number.
     */
    void answered(int id, int answer) {
        Message message = announced.get(id);
        if (message == null) {
            throw new IllegalArgumentException("an answer to number " + Integer.toUnsignedString(id) +
                    ", which was not announced");
        }
        end(message, answer == RendezvousFrame.READ ? null : new IOException(ctx.channel().remoteAddress() +
                (answer == RendezvousFrame.REFUSED ? " has refused a message of " : " has cancelled a message of ") +
                message.send.length() + " bytes"));
        pump();
        ctx.flush();
    }

    private void end(Message message, Throwable cause) {
        if (!announced.remove(message.id, message)) {
            return;
        }
        message.release();
        if (cause == null) {
            message.promise.trySuccess();
        } else {
            message.promise.tryFailure(cause);
        }
    }

    /** Fails all messages: the connection has ended, or the handler is removed. */
    void close() {
        ClosedChannelException cause = new ClosedChannelException();
        while (!announced.isEmpty()) {
            end(announced.values().iterator().next(), cause);
        }
        for (Message message; (message = waiting.poll()) != null;) {
            message.release();
            message.promise.tryFailure(cause);
        }
    }
}
