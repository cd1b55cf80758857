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
package io.netty.example.rdma.http;

import io.netty.buffer.ByteBuf;
import io.netty.example.rdma.util.Pattern;
import io.netty.example.rdma.util.Sha256;
import io.netty.util.CharsetUtil;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * Checks the body of a response as it arrives.
 */
public interface BodyCheck {
    /**
     * @param data the next piece of the body, which the caller releases
     * @throws IOException if the piece is wrong
     */
    void data(ByteBuf data) throws IOException;

    /** @throws IOException if something is missing at the end of the body */
    void end() throws IOException;

    /** Returns a check that the body is these bytes. */
    static BodyCheck equalTo(byte[] expected) {
        return new BodyCheck() {
            private int position;

            @Override
            public void data(ByteBuf data) throws IOException {
                int length = data.readableBytes();
                if (length > expected.length - position || !data.nioBuffer().equals(
                        ByteBuffer.wrap(expected, position, length))) {
                    throw new IOException("the body differs from what it should be from byte " + position + " on");
                }
                position += length;
            }

            @Override
            public void end() throws IOException {
                checkLength(expected.length, position);
            }
        };
    }

    /** Returns a check that the body is the first bytes of {@link Pattern}. */
    static BodyCheck pattern(long length) {
        return pattern(0, length);
    }

    /** Returns a check that the body is {@code length} bytes of {@link Pattern}, from {@code first} on. */
    static BodyCheck pattern(long first, long length) {
        return new BodyCheck() {
            private long position = first;

            @Override
            public void data(ByteBuf data) throws IOException {
                if (!Pattern.matches(data, position)) {
                    throw new IOException("the body differs from what it should be from byte " + (position - first)
                            + " on");
                }
                position += data.readableBytes();
            }

            @Override
            public void end() throws IOException {
                checkLength(length, position - first);
            }
        };
    }

    /** Returns the server's answer to the upload of {@code length} bytes of {@link Pattern}. */
    static byte[] receipt(long length) throws IOException {
        MessageDigest digest = Sha256.newDigest();
        Pattern.write(new DigestOutputStream(OutputStream.nullOutputStream(), digest), length);
        return ("{\"bytes\":" + length + ",\"sha256\":\"" + HexFormat.of().formatHex(digest.digest()) + "\"}")
                .getBytes(CharsetUtil.US_ASCII);
    }

    private static void checkLength(long expected, long actual) throws IOException {
        if (actual != expected) {
            throw new IOException("the body has " + actual + " bytes instead of " + expected);
        }
    }
}
