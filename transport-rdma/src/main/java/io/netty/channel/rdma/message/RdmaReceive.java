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
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;

import java.util.List;

/**
 * A message that a {@link RdmaMessageChannel} reads: a receive that the peer has used. The bytes are in a buffer of
 * registered memory, which the reader releases, or in {@link #memory()} of the application.
 */
public final class RdmaReceive extends DefaultByteBufHolder {
    private final List<RegisteredSlice> memory;
    private final List<ByteBuf> buffers;
    private final int status;
    private final int opcode;
    private final int length;
    private final boolean withImmediate;
    private final int immediate;

    RdmaReceive(ByteBuf content, int opcode, int length, boolean withImmediate, int immediate) {
        this(content, List.of(), List.of(), WorkCompletionStatus.SUCCESS, opcode, length, withImmediate, immediate);
    }

    RdmaReceive(ByteBuf content, List<RegisteredSlice> memory, List<ByteBuf> buffers, int status, int opcode,
                int length, boolean withImmediate, int immediate) {
        super(content);
        this.memory = memory;
        this.buffers = buffers;
        this.status = status;
        this.opcode = opcode;
        this.length = length;
        this.withImmediate = withImmediate;
        this.immediate = immediate;
    }

    /**
     * {@link WorkCompletionStatus#SUCCESS} for a message. Another status for a receive of the application that has
     * failed, in a user event of the pipeline: {@link RdmaMessageChannel#postReceive(List)}.
     */
    public int status() {
        return status;
    }

    /**
     * {@link WorkCompletionOpcode#RECEIVE} for a send of the peer, {@link
     * WorkCompletionOpcode#RECEIVE_RDMA_WITH_IMMEDIATE} for a write with immediate. {@code RECEIVE} for a receive that
     * has failed, because verbs do not report its opcode.
     */
    public int opcode() {
        return opcode;
    }

    /** Number of bytes that the peer has sent, which are the content, or has written to memory of this process. */
    public int length() {
        return length;
    }

    /**
     * The memory that the application gave to {@link RdmaMessageChannel#postReceive(List)}. A send of the peer has
     * filled it, in the order of the slices, and there is no content. A write has not changed it. Empty if the channel
     * posts its receives itself, or if there are {@link #buffers()}.
     */
    public List<RegisteredSlice> memory() {
        return memory;
    }

    /**
     * The buffers that the application gave to {@link RdmaMessageChannel#postReceive(ByteBuf, ByteBuf...)}, without
     * references for the reader. A send of the peer follows their former readable bytes, in the order of the buffers,
     * and is the content, too.
     */
    public List<ByteBuf> buffers() {
        return buffers;
    }

    public boolean hasImmediate() {
        return withImmediate;
    }

    /** The 32 bits of the peer, or 0. */
    public int immediate() {
        return immediate;
    }

    @Override
    public RdmaReceive replace(ByteBuf content) {
        return new RdmaReceive(content, memory, buffers, status, opcode, length, withImmediate, immediate);
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }

    @Override
    public String toString() {
        return (status == WorkCompletionStatus.SUCCESS ? "" : "failed ") + WorkCompletionOpcode.describe(opcode) +
                " of " + length + " bytes" +
                (withImmediate ? ", immediate 0x" + Integer.toHexString(immediate) : "");
    }
}
