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
package io.netty.example.rdma.pingpong;

import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.example.rdma.util.Figures;
import io.netty.example.rdma.verbs.Counts;

import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Locale;

/**
 * Settings of a ping-pong, the same at both ends.
 *
 * @param size   bytes of a ping, at least 8
 * @param count  round trips that are measured
 * @param warmUp how long round trips are done before the measured ones
 * @param check  whether every byte is checked
 */
record Game(PingPongMode mode, int size, int count, Duration warmUp, boolean check) {
    /** Minimum size in mode SEND, so that a ping is not taken for {@link Counts}, or for a number. */
    private static final int MIN_SEND = Counts.LENGTH + Long.BYTES;
    /** The longest receive buffer of a channel. */
    private static final int MAX_SEND = 4 << 20;

    Game {
        if (size < Long.BYTES || size % Long.BYTES != 0) {
            // The last 8 bytes are read as one aligned number.
            throw new IllegalArgumentException("--size: " + size + " (expected: a multiple of " + Long.BYTES + ')');
        }
        if (mode == PingPongMode.SEND && (size < MIN_SEND || size > MAX_SEND)) {
            throw new IllegalArgumentException("--size: " + size + " (expected in mode SEND: " + MIN_SEND + " to "
                    + MAX_SEND + ')');
        }
        if (warmUp.isNegative()) {
            throw new IllegalArgumentException("--warm-up: " + warmUp.toSeconds() + " (expected: 0 or more)");
        }
    }

    RegisteredMemory memory() throws IOException {
        return RegisteredMemory.allocate(size, EnumSet.of(RdmaPermission.LOCAL_WRITE, RdmaPermission.REMOTE_READ,
                RdmaPermission.REMOTE_WRITE));
    }

    /** Name in tables. */
    String name() {
        return mode.name().toLowerCase(Locale.ROOT) + ' ' + Figures.size(size);
    }

    @Override
    public String toString() {
        return "ping-pong " + mode + ' ' + size + " bytes, " + count + " times after " + warmUp
                + (check ? "" : ", unchecked");
    }
}
