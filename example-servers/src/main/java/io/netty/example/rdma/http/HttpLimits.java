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

import picocli.CommandLine.Option;

/**
 * Limits of an HTTP server for a client.
 *
 * @param idleMillis   time after which a connection without any traffic is closed; 0 for never
 * @param maxBodyBytes maximum length of a request's body
 */
public record HttpLimits(long idleMillis, long maxBodyBytes) {
    public HttpLimits {
        if (idleMillis < 0 || maxBodyBytes < 0) {
            throw new IllegalArgumentException("idleMillis (0..) " + idleMillis + ", maxBodyBytes (0..) "
                    + maxBodyBytes);
        }
    }

    /** The command line option for {@code maxBodyBytes}. */
    public static final class BodyLimitOption {
        private static final long DEFAULT_MAX_BODY = 1L << 30;

        @Option(names = "--max-body", description = "Bytes of a request's body at most (default: 1 GiB).")
        private long maxBody = DEFAULT_MAX_BODY;

        public long bytes() {
            return maxBody;
        }
    }
}
