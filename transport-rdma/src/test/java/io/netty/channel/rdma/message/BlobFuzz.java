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
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.FuzzInput;
import io.netty.channel.rdma.RdmaPermission;

import java.util.EnumSet;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;

import static io.netty.channel.rdma.FuzzInput.check;

/**
 * Input of applications from anywhere: blobs of remote memory and of endpoints, and headers of datagrams. An accepted
 * blob says the same when it is written again.
 */
public final class BlobFuzz {
    private static final int HEADER = 40;

    private BlobFuzz() { }

    public static void fuzzerTestOneInput(byte[] data) {
        FuzzInput input = new FuzzInput(data);
        int what = input.below(6);
        byte[] bytes;
        switch (what) {
        case 0:
            bytes = new byte[] {
                0x52, 0x44, 0x4d, 0x41, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 5
            };
            input.patch(bytes);
            break;
        case 1:
            bytes = new byte[RdmaEndpoint.BLOB_LENGTH];
            new RdmaEndpoint(true, 5, 17, 18, 0, 1, 1, new byte[16]).write(Unpooled.wrappedBuffer(bytes).clear());
            input.patch(bytes);
            break;
        case 2:
            bytes = new byte[HEADER];
            bytes[0] = 0x60;
            input.patch(bytes);
            break;
        case 3:
            bytes = announcement();
            input.patch(bytes);
            break;
        default:
            bytes = input.rest();
        }
        ByteBuf buf = Unpooled.wrappedBuffer(bytes);
        frame(buf.duplicate());
        switch (what % 3) {
        case 0:
            blob(buf, RemoteMemory.BLOB_LENGTH, RemoteMemory::read, (memory, out) -> {
                check(memory.address() >= 0 && memory.length() > 0, "range");
                check(memory.address() + memory.length() > memory.address(), "range goes round");
                slices(memory, input);
                memory.write(out);
            });
            break;
        case 1:
            blob(buf, RdmaEndpoint.BLOB_LENGTH, RdmaEndpoint::read, (endpoint, out) -> {
                check(!endpoint.toString().isEmpty(), "no text");
                endpoint.write(out);
            });
            break;
        default:
            datagram(buf, input);
        }
    }

    private static byte[] announcement() {
        ByteBuf out = Unpooled.buffer();
        RemoteMemory piece = new RemoteMemory(4096, 100, 5, EnumSet.of(RdmaPermission.REMOTE_READ));
        RendezvousFrame.writeAnnouncement(out, 1, List.of(piece, piece, piece));
        return ByteBufUtil.getBytes(out);
    }

    private static void frame(ByteBuf in) {
        int length = in.readableBytes();
        RendezvousFrame frame;
        try {
            frame = RendezvousFrame.read(in);
        } catch (IllegalArgumentException e) {
            check(e.getMessage() != null, "no reason");
            return;
        }
        long sum = 0;
        for (RemoteMemory piece : frame.pieces) {
            sum = Math.addExact(sum, piece.length());
        }
        switch (frame.type) {
        case RendezvousFrame.MESSAGE:
            check(frame.value == in.readableBytes() && frame.value == length - RendezvousFrame.HEADER_LENGTH, "length");
            break;
        case RendezvousFrame.ANNOUNCEMENT:
            check(frame.value == sum && sum > 0, "sum of the pieces");
            ByteBuf again = Unpooled.buffer();
            RendezvousFrame.writeAnnouncement(again, frame.id, frame.pieces);
            check(again.equals(in.readerIndex(0)), "something else is written");
            break;
        default:
            check(sum == 0 && !in.isReadable() && frame.value >= 0 && frame.value <= 2, "more than a header");
        }
    }

    private static <T> void blob(ByteBuf buf, int length, Function<ByteBuf, T> read, BiConsumer<T, ByteBuf> write) {
        int before = buf.readableBytes();
        T value;
        try {
            value = read.apply(buf);
        } catch (IllegalArgumentException e) {
            check(e.getMessage() != null, "no reason");
            return;
        }
        check(buf.readableBytes() == before - length, "another number of bytes was read");
        ByteBuf out = Unpooled.buffer(length);
        write.accept(value, out);
        check(out.equals(buf.slice(0, length)), "something else is written");
    }

    private static void slices(RemoteMemory memory, FuzzInput input) {
        long offset = input.i64();
        long length = input.i64();
        try {
            RemoteMemory slice = memory.slice(offset, length);
            check(slice.address() >= memory.address() && slice.length() == length &&
                    slice.address() - memory.address() + length <= memory.length(), "outside");
        } catch (IndexOutOfBoundsException e) {
            check(offset < 0 || length <= 0 || length > memory.length() || offset > memory.length() - length,
                    "inside: " + e.getMessage());
        }
    }

    private static void datagram(ByteBuf buf, FuzzInput input) {
        if (buf.readableBytes() < HEADER) {
            return;
        }
        for (boolean ethernet : new boolean[] { false, true }) {
            RoutingHeader header = new RoutingHeader(ethernet);
            if (header.read(buf, buf.readableBytes() - HEADER)) {
                RdmaDatagramAddress sender = RdmaDatagramAddress.sender(header.source.clone(), input.u16(),
                        input.u8(), input.i32());
                check(sender.queuePairNumber() >> 24 == 0, "queue pair number");
                check(!sender.toString().isEmpty() && sender.address() != null, "no text");
                RdmaDatagramAddress same = new RdmaDatagramAddress(sender.gid(), sender.lid(),
                        sender.queuePairNumber(), sender.queueKey());
                check(same.equals(sender) && same.hashCode() == sender.hashCode(), "not equal");
                check(same.isSamePeer(sender), "another peer");
                check(header.destination.length == 16, "destination");
            }
        }
        check(buf.readerIndex() == 0, "the index has changed");
    }
}
