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
 * Messages of any length on a {@link RdmaMessageChannel}, with this handler at both ends. Short messages are sent. A
 * longer message is announced: the receiver reads it by RDMA READ, directly into memory that it chooses. Then the
 * promise of the write is done. Several messages may be under way. The pipeline gets all in the order of the writes,
 * each as one {@link RdmaReceive}. A {@link RdmaRendezvousLimits limit} bounds the memory. The other end may be a C
 * program: docs/rendezvous.md has the wire format.
 *
 * <pre>
 *   ch.pipeline().addLast(new RdmaRendezvousHandler(limits), new MyHandler());
 *   ctx.writeAndFlush(buffer);                    // of any length
 * </pre>
 *
 * <p>The handler takes {@link ByteBuf}s and {@link RdmaSend}s. It registers a buffer of direct memory for the peer
 * while the message is announced; it copies other memory once. It always announces an {@code RdmaSend} of slices, whose
 * memory needs {@code REMOTE_READ}. Other operations and messages with immediate data pass through, and may overtake
 * messages that wait here. An {@link RdmaSendInv} is refused, because it would look like this handler's messages.
 *
 * <p>A cancelled promise withdraws the message; the handler keeps the memory until the peer has answered. If the peer
 * refuses a message, for example because it is too long there, its promise fails with an {@link IOException}, and the
 * connection goes on. At the end of the connection promises fail with a {@link
 * java.nio.channels.ClosedChannelException}, and partly read messages are dropped. The channel is not writable while
 * messages wait for answers to earlier ones. If a peer breaks the protocol, the handler closes the connection.
 *
 * <p>The sender's channel needs {@code REMOTE_READ} in {@code REMOTE_PERMISSIONS} and {@code RESPONDER_RESOURCES}, the
 * receiver's {@code INITIATOR_DEPTH}, and both need receives of at least 400 bytes. {@code MANUAL_RECEIVES} with slices
 * is not possible. Not sharable: each channel needs its own handler.
 */
public class RdmaRendezvousHandler extends ChannelDuplexHandler {
    private static final RdmaRendezvousLimits DEFAULT_LIMITS =
            new RdmaRendezvousLimits(64 << 20, 128 << 20, 1L << 30);
    /** Differs from the channel's own index (31), and from the first ones, which applications use. */
    private static final int WRITABILITY_INDEX = 30;

    private final RdmaRendezvousLimits limits;
    private final int threshold;
    private RendezvousSender sender;
    private RendezvousReceiver receiver;
    /** The peer has broken the protocol, so its messages are ignored. */
    private boolean broken;

    /** Creates a handler. All such handlers share limits: messages of 64 MiB, 128 MiB for a channel, 1 GiB in all. */
    public RdmaRendezvousHandler() {
        this(DEFAULT_LIMITS);
    }

    /** Creates a handler that announces messages longer than this end's {@code RECEIVE_BUFFER_SIZE}. */
    public RdmaRendezvousHandler(RdmaRendezvousLimits limits) {
        this(limits, -1);
    }

    /**
     * @param limits of the messages that this end reads; usually shared with other channels.
     * @param threshold the length of the longest message that is sent and not announced, at most 16 bytes less than the
     *         peer's {@code RECEIVE_BUFFER_SIZE}. If negative, this end's size counts.
     */
    public RdmaRendezvousHandler(RdmaRendezvousLimits limits, int threshold) {
        this.limits = checkNotNull(limits, "limits");
        this.threshold = threshold;
    }

    /**
     * Chooses the memory for a message. On the event loop of the channel.
     *
     * @param length in bytes, at least 1, and within the limits.
     * @return slices with room for the message, of memory with {@code LOCAL_WRITE} (and with iWARP {@code
     *         REMOTE_WRITE}), which may be a peer device's. The pipeline then gets an {@code RdmaReceive} with this
     *         {@link RdmaReceive#memory()} and without content. {@code null}, the default, for a buffer of the
     *         channel's allocator, which is the content.
     * @throws Exception to refuse the message; the pipeline gets it.
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

    /** Reads answers of the peer, even if the pipeline wants no messages. */
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
