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
package io.netty.example.rdma.grpc;

import com.google.protobuf.UnsafeByteOperations;
import io.netty.buffer.Unpooled;
import io.netty.example.rdma.grpc.proto.Payload;
import io.netty.example.rdma.util.Pattern;

/**
 * Payloads that can be checked: bytes of {@link Pattern}.
 */
public final class Payloads {
    /** Limit for the largest payload and its wrapping. gRPC's default is 4 MiB for both. */
    static final int MAX_MESSAGE_BYTES = EchoService.MAX_PAYLOAD_BYTES + (1 << 20);

    private Payloads() {
    }

    /** Returns the bytes from a position on. */
    public static Payload of(long position, int length) {
        byte[] bytes = new byte[length];
        Pattern.write(Unpooled.wrappedBuffer(bytes).clear(), position, length);
        // Only this payload has the array, so it need not be copied.
        return Payload.newBuilder().setPosition(position).setBytes(UnsafeByteOperations.unsafeWrap(bytes)).build();
    }

    /** Returns whether a payload has the bytes that belong to its position. */
    public static boolean isRight(Payload payload) {
        return Pattern.matches(Unpooled.wrappedBuffer(payload.getBytes().asReadOnlyByteBuffer()),
                payload.getPosition());
    }
}
