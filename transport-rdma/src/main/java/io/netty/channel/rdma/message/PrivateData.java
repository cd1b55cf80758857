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

/**
 * Bytes that the connection manager's messages carry for the application, in the port space of TCP with InfiniBand's
 * addresses: rdma_connect(3), rdma_accept(3), rdma_reject(3).
 */
final class PrivateData {
    static final int MAX_REQUEST = 56;
    static final int MAX_ANSWER = 196;
    static final int MAX_REASON = 148;

    private PrivateData() { }

    /** @param what it is, for the {@link IllegalArgumentException} if it is longer than the limit. */
    static byte[] copy(byte[] data, int limit, String what) {
        if (data.length > limit) {
            throw new IllegalArgumentException(what + ": " + data.length + " bytes (expected: at most " + limit + ')');
        }
        return data.clone();
    }
}
