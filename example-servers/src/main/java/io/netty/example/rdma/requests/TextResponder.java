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
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Has a text to be read, memory for one, or receives. It answers with the length of the text.
 */
final class TextResponder extends TextEnd {
    private RegisteredMemory memory;

    TextResponder(Operation operation, String text) {
        super(operation, text);
    }

    private Set<RdmaPermission> permissions() {
        switch (operation) {
        case READ_TEXT:
            return Set.of(RdmaPermission.REMOTE_READ);
        case WRITE_TEXT:
        case WRITE_IMM_TEXT:
            return Set.of(RdmaPermission.LOCAL_WRITE, RdmaPermission.REMOTE_WRITE);
        default:
            return Set.of();
        }
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
        if (isRead) {
            memory.buf().setBytes(0, text);
        }
        return List.of(channel.export(memory));
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) {
        started();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        switch (operation) {
        case READ_TEXT:
            answer(ctx, text.length, NumberMessage.read(msg) == text.length);
            break;
        case WRITE_TEXT:
            written(ctx, msg, NumberMessage.read(msg));
            break;
        case WRITE_IMM_TEXT:
            written(ctx, msg, msg.length());
            break;
        default:
            tell("received" + immediate(msg), msg.content());
            answer(ctx, msg.length(), isImmediateRight(msg));
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
        write(ctx, NumberMessage.of(ctx.alloc(), length));
        ctx.flush();
        finish(ctx, "responder", length, right);
    }

    @Override
    protected void closed() {
        if (memory != null) {
            memory.close();
        }
    }
}
