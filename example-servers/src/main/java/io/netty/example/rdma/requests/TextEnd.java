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

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RdmaSendImm;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RdmaWriteImm;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Common part of both ends that move a text: the requester reads the text of the responder, writes its own there, or
 * sends it. Immediate data are the length of the text. The end that gets the text prints it.
 */
abstract class TextEnd extends VerbsEnd {
    /** Maximum length, which is the default length of receive buffers. */
    static final int MAX_LENGTH = 4096;

    /** The default text of the samples of DOCA RDMA. */
    static final String DEFAULT = "Hi DOCA RDMA!";

    final Operation operation;
    final byte[] text;
    private volatile String told = "";

    /** @throws IllegalArgumentException if the text is too long, or empty */
    TextEnd(Operation operation, String text) {
        super(operation.toString());
        this.operation = operation;
        this.text = text.getBytes(StandardCharsets.UTF_8);
        if (this.text.length == 0 || this.text.length > MAX_LENGTH) {
            throw new IllegalArgumentException("the text has " + this.text.length + " bytes (expected: 1 to "
                    + MAX_LENGTH + ')');
        }
    }

    /** Prints the peer's text. */
    final void tell(String how, ByteBuf bytes) {
        told = bytes.toString(StandardCharsets.UTF_8);
        System.out.println(how + ": " + printable(told));
    }

    /** The peer's text. */
    final String told() {
        return told;
    }

    /** Returns the peer's text without control characters, which could control a terminal. */
    static String printable(String theirs) {
        return theirs.replaceAll("\\p{Cntrl}", "?");
    }

    final void finish(ChannelHandlerContext ctx, String end, int bytes, boolean right) {
        finish(ctx, operation + " " + end, 1, bytes, right ? 0 : 1);
    }

    /**
     * Reads the text of the responder, writes its own there, or sends it. The responder answers with the number of
     * bytes that it has got, or has let be read.
     */
    static final class TextRequester extends TextEnd {
        private int length;

        TextRequester(Operation operation, String text) {
            super(operation, text);
            length = this.text.length;
        }

        @Override
        protected void configure(ChannelConfig config) {
            config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of());
        }

        @Override
        protected void begin(ChannelHandlerContext ctx, Introduction peer) {
            switch (operation) {
            case READ_TEXT -> {
                read(ctx, peer.memory(0, 1));
                return;
            }
            case WRITE_TEXT -> {
                write(ctx, new RdmaWrite(bytes(ctx), peer.memory(0, length), 0).unsignalled());
                write(ctx, NumberMessage.of(ctx.alloc(), length));
            }
            case WRITE_IMM_TEXT -> write(ctx, new RdmaWriteImm(bytes(ctx), peer.memory(0, length), 0, length));
            case SEND_TEXT -> write(ctx, new RdmaSend(bytes(ctx)));
            default -> write(ctx, new RdmaSendImm(bytes(ctx), length));
            }
            ctx.flush();
        }

        private ByteBuf bytes(ChannelHandlerContext ctx) {
            return ctx.alloc().directBuffer(length, length).writeBytes(text);
        }

        private void read(ChannelHandlerContext ctx, RemoteMemory remote) {
            if (remote.length() > MAX_LENGTH) {
                throw new IllegalArgumentException("the peer's text has " + remote.length()
                        + " bytes (expected: at most " + MAX_LENGTH + ')');
            }
            length = (int) remote.length();
            ByteBuf theirs = ctx.alloc().directBuffer(length, length);
            whenClosed(theirs::release);
            then(ctx, ctx.writeAndFlush(new RdmaRead(theirs, remote, 0)), read -> {
                tell("read", theirs);
                writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), theirs.readableBytes()));
            });
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
            finish(ctx, "requester", length, NumberMessage.read(msg) == length);
        }
    }

    /** Has a text that is read, memory for a text, or receives. Answers with the length of the text. */
    static final class TextResponder extends TextEnd {
        private RegisteredMemory memory;

        TextResponder(Operation operation, String text) {
            super(operation, text);
        }

        private Set<RdmaPermission> permissions() {
            return switch (operation) {
            case READ_TEXT -> Set.of(RdmaPermission.REMOTE_READ);
            case WRITE_TEXT, WRITE_IMM_TEXT -> Set.of(RdmaPermission.LOCAL_WRITE, RdmaPermission.REMOTE_WRITE);
            default -> Set.of();
            };
        }

        @Override
        protected void configure(ChannelConfig config) {
            Set<RdmaPermission> remote = new HashSet<>(permissions());
            remote.remove(RdmaPermission.LOCAL_WRITE);
            config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, remote);
        }

        @Override
        protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
            if (permissions().isEmpty()) {
                return List.of();
            }
            boolean isRead = operation == Operation.READ_TEXT;
            memory = RegisteredMemory.allocate(isRead ? text.length : MAX_LENGTH, permissions());
            whenClosed(memory::close);
            if (isRead) {
                memory.buf().setBytes(0, text);
            }
            return List.of(channel.export(memory));
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
            switch (operation) {
            case READ_TEXT -> answer(ctx, text.length, NumberMessage.read(msg) == text.length);
            case WRITE_TEXT -> written(ctx, msg, NumberMessage.read(msg));
            case WRITE_IMM_TEXT -> written(ctx, msg, msg.length());
            default -> {
                tell("received" + immediate(msg), msg.content());
                answer(ctx, msg.length(), isImmediateRight(msg));
            }
            }
        }

        private void written(ChannelHandlerContext ctx, RdmaReceive msg, long length) {
            if (length < 1 || length > MAX_LENGTH) {
                throw new IllegalArgumentException("the peer has written " + length + " bytes (expected: 1 to "
                        + MAX_LENGTH + ')');
            }
            tell("written" + immediate(msg), memory.buf().slice(0, (int) length));
            answer(ctx, (int) length, isImmediateRight(msg));
        }

        private static String immediate(RdmaReceive msg) {
            return msg.hasImmediate() ? ", with the immediate data " + msg.immediate() : "";
        }

        private boolean isImmediateRight(RdmaReceive msg) {
            boolean expected = operation == Operation.WRITE_IMM_TEXT || operation == Operation.SEND_IMM_TEXT;
            return msg.hasImmediate() == expected && (!expected || msg.immediate() == msg.length());
        }

        private void answer(ChannelHandlerContext ctx, int length, boolean right) {
            writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), length));
            finish(ctx, "responder", length, right);
        }
    }
}
