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
package io.netty.channel.rdma;

import io.netty.channel.rdma.connection.Rejection;
import io.netty.channel.rdma.stream.ConnectionData;
import io.netty.channel.rdma.stream.StreamProtocolException;

import java.nio.ByteBuffer;

import static io.netty.channel.rdma.FuzzInput.check;

/**
 * The private data of the connection manager's messages, as a stream connection reads them: requests and replies, and
 * the text of a rejection.
 */
public final class PrivateDataFuzz {
    private PrivateDataFuzz() { }

    public static void fuzzerTestOneInput(byte[] data) {
        FuzzInput input = new FuzzInput(data);
        int before = input.below(4);
        boolean patched = input.bit();
        ByteBuffer bytes;
        if (patched) {
            byte[] valid = new byte[ConnectionData.SIZE + before];
            new ConnectionData(true, true, 384, 0x1000, 7, 8, 0x2000, 9, 65536)
                    .write(ByteBuffer.wrap(valid, before, ConnectionData.SIZE));
            input.patch(valid);
            bytes = ByteBuffer.wrap(valid);
        } else {
            bytes = ByteBuffer.wrap(input.rest());
        }
        bytes.position(Math.min(before, bytes.limit()));
        connectionData(bytes);
        rejection(bytes.array());
    }

    private static void connectionData(ByteBuffer bytes) {
        int position = bytes.position();
        ConnectionData read;
        try {
            read = ConnectionData.read(bytes);
        } catch (StreamProtocolException e) {
            check(e.getMessage().contains("peer"), e.getMessage());
            return;
        } finally {
            check(bytes.position() == position, "the position has changed");
        }
        check(read.credits() >= 1 && read.credits() <= 65535, "credits");
        check(read.sglEntries() >= 2 && read.sglEntries() <= 65535, "sglEntries");
        check(read.bufferLength() >= 1 && read.bufferLength() <= 0xFFFFFFFFL, "bufferLength");
        check(isInAddressSpace(read.bufferAddress(), read.bufferLength()), "buffer");
        check(isInAddressSpace(read.sglAddress(), read.sglEntries() * 16L), "sgl");
        ByteBuffer written = ByteBuffer.allocate(ConnectionData.SIZE);
        read.write(written);
        try {
            check(ConnectionData.read(written.flip()).equals(read), "what was written is read as something else");
        } catch (StreamProtocolException e) {
            throw new IllegalStateException("what was written is not valid", e);
        }
    }

    private static boolean isInAddressSpace(long address, long length) {
        return Long.compareUnsigned(address + length - 1, address) >= 0;
    }

    private static void rejection(byte[] bytes) {
        String text = Rejection.text(bytes);
        check(text.length() <= bytes.length, "longer than the data");
        check(text.chars().allMatch(c -> c >= ' ' && c < 127), "not printable");
        byte[] said = Rejection.data(text);
        check(said.length <= 148, "longer than a rejection can carry");
        check(text.startsWith(Rejection.text(said)), "another text");
    }
}
