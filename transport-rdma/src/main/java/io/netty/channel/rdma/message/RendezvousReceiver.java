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
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.memory.CellPool;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.util.concurrent.FutureListener;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.IntFunction;

/**
 * The receiving half of {@link RdmaRendezvousHandler}: reads announced messages, several at a time, and gives all to
 * the pipeline in the order in which they were written. On the loop of the channel.
 */
final class RendezvousReceiver {
    /** The longest RDMA read, so that several messages and the answers to others take turns. */
    private static final int READ_LENGTH = 1 << 20;
    /** RDMA reads under way. */
    private static final int MAX_READS = 8;
    /** Messages that may wait for a pipeline that does not read. With more, answers are not read either. */
    private static final int MAX_UNWANTED = 64;

    private final ChannelHandlerContext ctx;
    private final RdmaRendezvousLimits limits;
    private final IntFunction<List<RegisteredSlice>> memory;
    private final Runnable retry = this::retry;
    private final Runnable resume = this::resume;
    /** In the order in which they were written. */
    private final Deque<Incoming> messages = new ArrayDeque<>();
    private int announced;
    private int reads;
    private long reserved;
    private boolean waitingForOthers;
    private boolean wanted;
    /** The pipeline has got messages since the last channelReadComplete. */
    private boolean delivered;
    private boolean delivering;
    private boolean closed;
    private boolean pumping;

    /** @param memory returns slices for a message of this length, or {@code null} for a buffer. */
    RendezvousReceiver(ChannelHandlerContext ctx, RdmaRendezvousLimits limits,
                       IntFunction<List<RegisteredSlice>> memory) {
        this.ctx = ctx;
        this.limits = limits;
        this.memory = memory;
    }

    /** A message that has not reached the pipeline. */
    private static final class Incoming {
        /** The number of the announcement. */
        final int id;
        final List<RemoteMemory> pieces;
        final int length;
        /** {@code null} until it is complete. */
        RdmaReceive complete;
        /** The answer was sent: only the pipeline still has to get the message. */
        boolean answered;
        boolean begun;
        boolean cancelled;
        Throwable failure;
        /** The buffer or the slices that the message is read into, and a registration that the buffer may need. */
        ByteBuf buffer;
        RegisteredMemory registered;
        List<RegisteredSlice> slices = List.of();
        int reads;
        /** The next byte to be read, in the message and on both sides. */
        int next;
        int piece;
        long inPiece;
        int slice;
        int inSlice;

        Incoming(RdmaReceive complete) {
            this.complete = complete;
            id = 0;
            pieces = List.of();
            length = 0;
            answered = true;
        }

        Incoming(int id, List<RemoteMemory> pieces, int length) {
            this.id = id;
            this.pieces = pieces;
            this.length = length;
        }

        /** Returns whether the message counts as one of the protocol. */
        boolean isFrame() {
            return complete == null || !complete.hasImmediate();
        }

        boolean isRead() {
            return begun && reads == 0 && (next == length || failure != null || cancelled);
        }
    }

    /** Delivers messages, because the pipeline wants to read. */
    void wanted() {
        wanted = true;
        deliver();
    }

    /** Returns whether the channel may read messages that the pipeline does not want yet. */
    boolean hasRoom() {
        return messages.size() < MAX_UNWANTED;
    }

    /**
     * Takes a complete message.
     *
     * @throws IllegalArgumentException if the peer must not send it now.
     */
    void received(RdmaReceive message) {
        checkPlace();
        messages.add(new Incoming(message));
        deliver();
    }

    /** Takes a message that is not of the protocol. */
    void passed(RdmaReceive message) {
        if (isWanted()) {
            delivered = true;
            ctx.fireChannelRead(message);
        } else {
            messages.add(new Incoming(message));
        }
    }

    /** Checks that the peer's next message is not too far behind one that was not answered. */
    private void checkPlace() {
        if (announced == 0) {
            return;
        }
        int behind = -1;
        for (Incoming message : messages) {
            if (behind >= 0 || !message.answered) {
                behind += message.isFrame() ? 1 : 0;
            }
        }
        if (behind >= RendezvousSender.MAX_BEHIND) {
            throw new IllegalArgumentException("more than " + RendezvousSender.MAX_BEHIND +
                    " messages behind an announcement without an answer");
        }
    }

    /**
     * Takes an announcement of the peer.
     *
     * @throws IllegalArgumentException if it must not.
     */
    void announced(RendezvousFrame frame) {
        if (announced >= RendezvousSender.MAX_ANNOUNCED) {
            throw new IllegalArgumentException("more than " + RendezvousSender.MAX_ANNOUNCED +
                    " announcements without an answer");
        }
        checkPlace();
        if (find(frame.id) != null) {
            throw new IllegalArgumentException("number " + Integer.toUnsignedString(frame.id) + " announced twice");
        }
        if (frame.value > limits.maxLength()) {
            answer(frame.id, RendezvousFrame.REFUSED);
            ctx.fireExceptionCaught(new IOException("a message of " + frame.value + " bytes of " +
                    ctx.channel().remoteAddress() + " was refused: at most " + limits.maxLength() + " are read"));
            return;
        }
        messages.add(new Incoming(frame.id, frame.pieces, (int) frame.value));
        announced++;
        pump();
    }

    /** Withdraws a message of the peer. Its answer may be on the way already. */
    void cancelled(int id) {
        Incoming message = find(id);
        if (message != null) {
            message.cancelled = true;
            if (!message.begun || message.isRead()) {
                finish(message);
                pump();
            }
        }
    }

    private Incoming find(int id) {
        for (Incoming message : messages) {
            if (!message.answered && message.id == id) {
                return message;
            }
        }
        return null;
    }

    private void retry() {
        try {
            ctx.executor().execute(resume);
        } catch (RejectedExecutionException e) {
            // The loop has ended, and the channel with it.
            waitingForOthers = false;
        }
    }

    private void resume() {
        waitingForOthers = false;
        pump();
    }

    /** Ends the connection, because otherwise a message or an answer would be missing. */
    private void fail(OutOfMemoryError cause) {
        ctx.fireExceptionCaught(cause);
        ctx.close();
    }

    /** Begins messages while there is memory, and reads as many pieces as may be under way. */
    private void pump() {
        if (pumping || closed) {
            return;
        }
        pumping = true;
        boolean posted = false;
        try {
            // A message that fails at once leaves the queue.
            for (Incoming message : messages.toArray(new Incoming[0])) {
                if (reads >= MAX_READS || !message.answered && !message.begun && !begin(message)) {
                    break;
                }
                while (!message.answered && !message.cancelled && message.failure == null &&
                        message.next < message.length && reads < MAX_READS) {
                    read(message);
                    posted = true;
                }
                if (!message.answered && message.isRead()) {
                    finish(message);
                }
            }
        } catch (OutOfMemoryError e) {
            fail(e);
        } finally {
            pumping = false;
        }
        if (posted) {
            ctx.flush();
        }
    }

    private boolean begin(Incoming message) {
        if (message.length > limits.maxPeerBytes() - reserved || waitingForOthers) {
            return false;
        }
        if (!limits.reserve(message.length, retry)) {
            waitingForOthers = true;
            return false;
        }
        reserved += message.length;
        message.begun = true;
        try {
            List<RegisteredSlice> chosen = memory.apply(message.length);
            if (chosen == null) {
                allocate(message);
            } else {
                check(chosen, message.length);
                message.slices = chosen;
            }
        } catch (Exception | OutOfMemoryError e) {
            message.failure = e;
        }
        return true;
    }

    private void allocate(Incoming message) throws IOException {
        message.buffer = ctx.alloc().directBuffer(message.length, message.length);
        boolean remoteWrite = ((RdmaMessageChannel) ctx.channel()).capabilities().readsNeedRemoteWrite();
        if (remoteWrite || message.length > CellPool.SLAB_SIZE || !message.buffer.hasMemoryAddress()) {
            // Not in a slab of the allocator.
            message.registered = RegisteredMemory.of(message.buffer, remoteWrite
                    ? EnumSet.of(RdmaPermission.LOCAL_WRITE, RdmaPermission.REMOTE_WRITE)
                    : EnumSet.of(RdmaPermission.LOCAL_WRITE));
        }
    }

    private static void check(List<RegisteredSlice> slices, int length) {
        long room = 0;
        for (RegisteredSlice slice : slices) {
            room += slice.length();
        }
        if (room < length) {
            throw new IllegalArgumentException("memory of " + room + " bytes for a message of " + length);
        }
    }

    /** Reads the next part. An exception is the failure of the message. */
    private void read(Incoming message) {
        RdmaRead read;
        FutureListener<Void> done;
        try {
            done = future -> done(message, future.cause());
            read = nextPart(message);
        } catch (RuntimeException | OutOfMemoryError e) {
            message.failure = e;
            return;
        }
        message.reads++;
        reads++;
        ctx.write(read).addListener(done);
    }

    private void done(Incoming message, Throwable failure) {
        message.reads--;
        reads--;
        if (failure != null) {
            message.failure = failure;
        }
        if (!message.answered && message.isRead()) {
            finish(message);
        }
        pump();
    }

    /** Returns a read of the next part, which is contiguous on both sides. */
    private static RdmaRead nextPart(Incoming message) {
        RemoteMemory piece = message.pieces.get(message.piece);
        int part = (int) Math.min(Math.min(READ_LENGTH, message.length - message.next),
                piece.length() - message.inPiece);
        RdmaRead read;
        if (message.buffer == null) {
            RegisteredSlice slice = message.slices.get(message.slice);
            while (slice.length() == message.inSlice) {
                message.inSlice = 0;
                slice = message.slices.get(++message.slice);
            }
            part = Math.min(part, slice.length() - message.inSlice);
            read = new RdmaRead(slice.memory().slice(slice.offset() + message.inSlice, part), piece, message.inPiece);
            message.inSlice += part;
        } else if (message.registered != null) {
            read = new RdmaRead(message.registered.slice(message.next, part), piece, message.inPiece);
        } else {
            read = new RdmaRead(message.buffer.slice(message.next, part).setIndex(0, 0), piece, message.inPiece);
        }
        message.next += part;
        message.inPiece += part;
        if (message.inPiece == piece.length()) {
            message.piece++;
            message.inPiece = 0;
        }
        return read;
    }

    /** Answers a message that was read, or will not be. */
    private void finish(Incoming message) {
        message.answered = true;
        announced--;
        if (message.registered != null) {
            message.registered.close();
        }
        if (message.failure == null && !message.cancelled) {
            ByteBuf content = message.buffer == null ? Unpooled.EMPTY_BUFFER
                    : message.buffer.setIndex(0, message.length);
            try {
                message.complete = new RdmaReceive(content, message.slices, List.of(), WorkCompletionStatus.SUCCESS,
                        WorkCompletionOpcode.RECEIVE, message.length, false, 0);
            } catch (OutOfMemoryError e) {
                message.failure = e;
            }
        }
        if (message.complete == null) {
            messages.remove(message);
            release(message);
        }
        if (closed) {
            return;
        }
        answer(message.id, message.cancelled ? RendezvousFrame.CANCELLED
                : message.complete != null ? RendezvousFrame.READ : RendezvousFrame.REFUSED);
        if (message.failure != null) {
            ctx.fireExceptionCaught(message.failure);
        }
        deliver();
    }

    /** Releases the memory of a message that the pipeline does not get. */
    private void release(Incoming message) {
        if (message.buffer != null) {
            message.buffer.release();
        }
        giveBack(message);
    }

    private void giveBack(Incoming message) {
        if (message.begun) {
            reserved -= message.length;
            limits.release(message.length);
        }
    }

    private void answer(int id, int answer) {
        try {
            ctx.writeAndFlush(RendezvousFrame.control(ctx.alloc(), RendezvousFrame.ANSWER, id, answer));
        } catch (OutOfMemoryError e) {
            fail(e);
        }
    }

    /** Gives complete messages to the pipeline, in their order, while it wants them. */
    private void deliver() {
        if (delivering) {
            return;
        }
        delivering = true;
        boolean any = false;
        try {
            for (Incoming first; (first = messages.peek()) != null && first.complete != null && isWanted();) {
                messages.remove();
                giveBack(first);
                delivered = true;
                any |= first.length > 0;
                ctx.fireChannelRead(first.complete);
            }
        } finally {
            delivering = false;
        }
        if (any) {
            // Messages were delivered outside of a read of the channel.
            readComplete();
            pump();
        }
    }

    private boolean isWanted() {
        return closed || wanted || ctx.channel().config().isAutoRead();
    }

    /** Ends a series of messages with channelReadComplete. */
    void readComplete() {
        if (delivered) {
            delivered = false;
            wanted = false;
            ctx.fireChannelReadComplete();
        } else if (wanted && !ctx.channel().config().isAutoRead()) {
            // Nothing of what has come was for the pipeline.
            ctx.read();
        }
    }

    /** The connection has ended, or the handler is removed: the pipeline gets what is complete up to the first gap. */
    void close() {
        closed = true;
        limits.forget(retry);
        deliver();
        for (Iterator<Incoming> each = messages.iterator(); each.hasNext();) {
            Incoming message = each.next();
            if (message.complete != null) {
                each.remove();
                giveBack(message);
                message.complete.release();
            } else if (message.reads == 0) {
                if (!message.answered && message.begun && message.registered != null) {
                    message.registered.close();
                }
                each.remove();
                release(message);
                message.answered = true;
            } else {
                // The reads come back, and the memory with the last of them.
                message.cancelled = true;
            }
        }
    }
}
