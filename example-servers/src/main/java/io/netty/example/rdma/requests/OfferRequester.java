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
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.channel.rdma.verbs.DeviceAddresses;
import io.netty.example.rdma.util.LocalHost;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Offers memory with its connect request. The key travels in the private data, so the responder can write into the
 * memory without a message. The memory is registered by its address, as memory of a graphics processor is. Here it is
 * memory of a buffer, so that this end can check the received bytes.
 */
class OfferRequester extends VerbsEnd {
    private final int size;
    private final ByteBuf buf;
    private RegisteredMemory memory;

    OfferRequester(int size) {
        super(Operation.OFFER.program(size, 1));
        this.size = size;
        buf = Unpooled.directBuffer(size, size).setZero(0, size);
    }

    @Override
    protected void configure(ChannelConfig config) throws IOException {
        whenClosed(buf::release);
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of(RdmaPermission.REMOTE_WRITE));
        memory = RegisteredMemory.ofAddress(buf.memoryAddress(), size,
                EnumSet.of(RdmaPermission.LOCAL_WRITE, RdmaPermission.REMOTE_WRITE));
        whenClosed(memory::close);
        ByteBuf blob = Unpooled.buffer(RemoteMemory.BLOB_LENGTH, RemoteMemory.BLOB_LENGTH);
        RemoteMemory.of(memory, device(config)).write(blob);
        config.setOption(RdmaChannelOption.CONNECT_DATA, blob.array());
    }

    /** Name of the device that the connection will use: the key is valid for one device only. */
    private static String device(ChannelConfig config) throws IOException {
        String chosen = config.getOption(RdmaChannelOption.DEVICE);
        if (!chosen.isEmpty()) {
            return chosen;
        }
        String local = LocalHost.address();
        return DeviceAddresses.find().byDevice().entrySet().stream()
                .filter(entry -> entry.getValue().stream().anyMatch(own -> own.getHostAddress().equals(local)))
                .findFirst()
                .orElseThrow(() -> new IOException("no RDMA device has the address " + local + ": choose one with -d"))
                .getKey();
    }

    /** Exports the memory only if there is no connect request: then the descriptor has to tell the key. */
    @Override
    protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        return channel.isActive() ? List.of() : List.of(channel.export(memory));
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        boolean right = msg.hasImmediate() && msg.immediate() == size && msg.length() == size
                && Blocks.matches(arrived(), 0, size);
        finish(ctx, Operation.OFFER + " requester", 1, size, right ? 0 : 1);
    }

    /** Bytes that the peer has written. */
    ByteBuf arrived() {
        return buf.slice(0, size);
    }
}
