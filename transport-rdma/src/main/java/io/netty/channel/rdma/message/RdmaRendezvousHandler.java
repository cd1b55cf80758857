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
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.StringUtil;

import java.io.IOException;
import java.util.List;

import static io.netty.util.internal.ObjectUtil.checkNotNull;

/**
 * Messages of any length on a {@link RdmaMessageChannel}, with this handler at both ends. Short ones are sent. For a
 * longer one the receiver is told where it is, and reads it by RDMA READ straight into memory that it chooses; then the
 * promise of the write is done. Several are under way at a time. The pipeline gets all in the order in which they were
 * written, each as one {@link RdmaReceive}, and a {@link RdmaRendezvousLimits limit} bounds the memory. A C program may
 * be the other end: docs/rendezvous.md has the wire format.
 *
 * <pre>
 *   ch.pipeline().addLast(new RdmaRendezvousHandler(limits), new MyHandler());
 *   ctx.writeAndFlush(buffer);                    // of any length
 * </pre>
 *
 * <p>It takes {@link ByteBuf}s and {@link RdmaSend}s. A buffer of direct memory is registered for the peer while it is
 * announced; other memory is copied once. An {@code RdmaSend} of slices, whose memory needs {@code REMOTE_READ}, is
 * always announced. Other operations and messages with immediate data pass through, and may overtake what waits here;
 * an {@link RdmaSendInv} is refused, as its message could not be told from this handler's.
 *
 * <p>A write whose promise is cancelled is withdrawn; the memory is this handler's until the peer has answered. The
 * promise of a message that the peer refuses, as it is too long there, fails with an {@link IOException}, and the
 * connection goes on. At the end of the connection promises fail with a {@link
 * java.nio.channels.ClosedChannelException}, and what was read in part is given up. The channel is not writable while
 * messages wait for answers to earlier ones. A peer that breaks the protocol loses the connection.
 *
 * <p>The sender's channel needs {@code REMOTE_READ} in {@code REMOTE_PERMISSIONS} and {@code RESPONDER_RESOURCES}, the
 * receiver's {@code INITIATOR_DEPTH}, and both need receives of at least 400 bytes; slices of {@code MANUAL_RECEIVES}
 * are not possible. Not sharable: one for each channel.
 */
public class RdmaRendezvousHandler extends ChannelDuplexHandler {
    private static final RdmaRendezvousLimits DEFAULT_LIMITS =
            new RdmaRendezvousLimits(64 << 20, 128 << 20, 1L << 30);
    /** Another one than the channel's own, and than those of the application's first handlers. */
    private static final int WRITABILITY_INDEX = 30;

    private final RdmaRendezvousLimits limits;
    private final int threshold;
    private RendezvousSender sender;
    private RendezvousReceiver receiver;
    /** The peer has broken the protocol: nothing that it sends counts any more. */
    private boolean broken;

    /**
     * Creates one with limits that all handlers made so share: messages of 64 MiB, 128 MiB for a channel, 1 GiB in all.
     */
    public RdmaRendezvousHandler() {
        this(DEFAULT_LIMITS);
    }

    /** Creates one that announces what is longer than this end's {@code RECEIVE_BUFFER_SIZE}. */
    public RdmaRendezvousHandler(RdmaRendezvousLimits limits) {
        this(limits, -1);
    }

    /**
     * @param limits of what is read for the peer; usually those of other channels, too.
     * @param threshold the length of the longest message that is sent and not announced: 16 bytes less than the peer's
     *         {@code RECEIVE_BUFFER_SIZE}, or less. Less than 0 for what this end's receives would take.
     */
    public RdmaRendezvousHandler(RdmaRendezvousLimits limits, int threshold) {
        this.limits = checkNotNull(limits, "limits");
        this.threshold = threshold;
    }

    /**
     * Chooses the memory for a message. On the event loop of the channel.
     *
     * @param length in bytes, at least 1, and within the limits.
     * @return slices of memory with {@code LOCAL_WRITE} (and with iWARP {@code REMOTE_WRITE}), which may be a peer
     *         device's, with room for the message: then the pipeline gets an {@code RdmaReceive} with this {@link
     *         RdmaReceive#memory()} and without content. {@code null}, as by default, for a buffer of the channel's
     *         allocator, which is the content.
     * @throws Exception refuses the message, and goes to the pipeline.
     */
    protected List<RegisteredSlice> memory(int length) throws Exception {
        return null;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        if (!(ctx.channel() instanceof RdmaMessageChannel)) {
            throw new IllegalStateException(StringUtil.simpleClassName(this) + " in the pipeline of " + ctx.channel() +
                    " (expected: a " + StringUtil.simpleClassName(RdmaMessageChannel.class) + ')');
        }
        int size = ctx.channel().config().getOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE);
        if (size < RendezvousFrame.MAX_ANNOUNCEMENT) {
            throw new IllegalStateException("RECEIVE_BUFFER_SIZE: " + size + " (expected: at least " +
                    RendezvousFrame.MAX_ANNOUNCEMENT + " with " + StringUtil.simpleClassName(this) + ')');
        }
        sender = new RendezvousSender(ctx, threshold >= 0 ? threshold : size - RendezvousFrame.HEADER_LENGTH);
        receiver = new RendezvousReceiver(ctx, limits, this::choose);
    }

    private List<RegisteredSlice> choose(int length) {
        try {
            return memory(length);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        close();
    }

    private void close() {
        if (sender != null) {
            sender.close();
        }
        if (receiver != null) {
            receiver.close();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        close();
        ctx.fireChannelInactive();
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        if (msg instanceof RdmaSendInv) {
            ReferenceCountUtil.release(msg);
            promise.tryFailure(new UnsupportedOperationException(StringUtil.simpleClassName(msg) + " with " +
                    StringUtil.simpleClassName(this)));
        } else if (msg instanceof ByteBuf || msg instanceof RdmaSend) {
            sender.write(msg, promise);
            updateWritability(ctx);
            readAnswers(ctx);
        } else {
            ctx.write(msg, promise);
        }
    }

    private void updateWritability(ChannelHandlerContext ctx) {
        ChannelOutboundBuffer buffer = ctx.channel().unsafe().outboundBuffer();
        if (buffer != null && buffer.getUserDefinedWritability(WRITABILITY_INDEX) != sender.isWritable()) {
            buffer.setUserDefinedWritability(WRITABILITY_INDEX, sender.isWritable());
        }
    }

    /** Answers are read even if the pipeline wants no messages. */
    private void readAnswers(ChannelHandlerContext ctx) {
        if (sender.isWaiting() && !ctx.channel().config().isAutoRead() && receiver.hasRoom()) {
            ctx.read();
        }
    }

    @Override
    public void read(ChannelHandlerContext ctx) {
        receiver.wanted();
        ctx.read();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        RdmaReceive message = (RdmaReceive) msg;
        if (broken) {
            message.release();
            return;
        }
        ByteBuf content = message.content();
        boolean passed = false;
        try {
            if (message.hasImmediate()) {
                receiver.passed(message);
                passed = true;
                return;
            }
            RendezvousFrame frame = RendezvousFrame.read(content);
            switch (frame.type) {
            case RendezvousFrame.MESSAGE -> {
                receiver.received(new RdmaReceive(content, message.opcode(), content.readableBytes(), false, 0));
                passed = true;
            }
            case RendezvousFrame.ANNOUNCEMENT -> receiver.announced(frame);
            case RendezvousFrame.ANSWER -> {
                sender.answered(frame.id, (int) frame.value);
                updateWritability(ctx);
            }
            default -> receiver.cancelled(frame.id);
            }
        } catch (IllegalArgumentException e) {
            broken = true;
            ctx.fireExceptionCaught(new IOException(ctx.channel().remoteAddress() + " does not follow the protocol " +
                    "of " + StringUtil.simpleClassName(RdmaRendezvousHandler.class) + ": " + e.getMessage(), e));
            ctx.close();
        } catch (OutOfMemoryError e) {
            // Without this frame the order of messages, or an answer that the peer waits for, is lost.
            broken = true;
            ctx.fireExceptionCaught(e);
            ctx.close();
        } finally {
            if (!passed) {
                message.release();
            }
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        receiver.readComplete();
        readAnswers(ctx);
    }
}
