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
package io.netty.channel.rdma.connection;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The reason of a rejected connection, as text in the private data of the rejection.
 */
public final class Rejection {
    /** The bytes that each rejection can carry (InfiniBand Architecture Specification vol. 1, 12.6.7). */
    private static final int MAX_LENGTH = 148;

    private Rejection() { }

    public static byte[] data(String reason) {
        byte[] data = reason.getBytes(StandardCharsets.US_ASCII);
        return data.length <= MAX_LENGTH ? data : Arrays.copyOf(data, MAX_LENGTH);
    }

    /**
     * The text that a peer sent, without padding, with "?" for bytes that are not printable; empty if there is none.
     */
    public static String text(byte[] data) {
        StringBuilder text = new StringBuilder(data.length);
        for (byte b : data) {
            if (b == 0) {
                break;
            }
            text.append(b >= ' ' && b < 127 ? (char) b : '?');
        }
        return text.toString();
    }
}
