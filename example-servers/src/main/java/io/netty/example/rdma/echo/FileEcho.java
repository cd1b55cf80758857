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
package io.netty.example.rdma.echo;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;

/**
 * Result of sending a file through an echo server.
 *
 * @param sentBytes      bytes sent
 * @param receivedBytes  bytes received until the server closed
 * @param sentDigest     SHA-256 of what was sent
 * @param receivedDigest SHA-256 of what was received
 * @param nanos          from the first write to the end of the connection
 */
public record FileEcho(long sentBytes, long receivedBytes, byte[] sentDigest, byte[] receivedDigest, long nanos) {

    public boolean isIntact() {
        return sentBytes == receivedBytes && Arrays.equals(sentDigest, receivedDigest);
    }

    /** For people. */
    @Override
    public String toString() {
        HexFormat hex = HexFormat.of();
        return String.format(Locale.ROOT, "sent     %,12d bytes, SHA-256 %s%nreceived %,12d bytes, SHA-256 %s%n"
                        + "%s, %.2f s, %.0f MB/s each way",
                sentBytes, hex.formatHex(sentDigest), receivedBytes, hex.formatHex(receivedDigest),
                isIntact() ? "EQUAL" : "DIFFERENT", nanos / 1e9, receivedBytes * 1e3 / nanos);
    }
}
