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
package io.netty.example.rdma.blast;

import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.example.rdma.util.Figures;

import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Locale;

/**
 * Settings of a blast, the same at both ends.
 *
 * <p>With the check, each operation of a chain has a place of its own. There are places for two chains, so that one
 * chain can be checked while the other is in flight. Without the check, all operations go from the same place to the
 * same place, as with perftest's programs.
 *
 * @param byServer whether the server posts the operations, on the client's memory
 * @param size     bytes of an operation
 * @param count    operations that are measured
 * @param warmUp   how long operations are done before the measured ones
 * @param chain    number of operations that are posted together
 * @param check    whether every byte of every operation is checked, or only the contents in the end
 */
record Barrage(BlastMode mode, boolean byServer, int size, int count, Duration warmUp, int chain, boolean check) {
    /** Number of chains in flight. */
    static final int CHAINS = 2;
    /** Maximum length of a chain. Two fit into the send queues of most devices, which have 16384 entries or more. */
    private static final int MAX_CHAIN = 8000;
    private static final int DEFAULT_QUEUE = 256;
    private static final long MAX_MEMORY = 256 << 20;

    Barrage {
        if (warmUp.isNegative()) {
            throw new IllegalArgumentException("--warm-up: " + warmUp.toSeconds() + " (expected: 0 or more)");
        }
        if (chain < 1 || chain > MAX_CHAIN) {
            throw new IllegalArgumentException("--chain: " + chain + " (expected: 1 to " + MAX_CHAIN + ')');
        }
        if (check && (long) size * (CHAINS * chain + 1) > MAX_MEMORY) {
            throw new IllegalArgumentException("--size: " + size + " takes " + (long) size * (CHAINS * chain + 1)
                    + " bytes of memory with the check (expected: at most " + MAX_MEMORY + "): lower --chain");
        }
    }

    /** Depth of a send queue for all requests in flight, with the messages of the chains and the last ones. */
    int queueDepth() {
        return Math.max(DEFAULT_QUEUE, CHAINS * (chain + 1) + 2);
    }

    /** Number of operations with a place of their own in the target memory. */
    int slots() {
        return check ? CHAINS * chain : 1;
    }

    /** Number of places in the memory of the other end. Reads have one more, so that each brings something new. */
    int remoteSlots() {
        return mode == BlastMode.READ && check ? slots() + 1 : slots();
    }

    /** Offset of an operation's place in the memory of the other end. */
    int remoteOffset(long number) {
        return (int) (number % remoteSlots()) * size;
    }

    /** Number of the data that an operation moves. */
    long data(long number) {
        return !check ? 0 : mode == BlastMode.READ ? number % remoteSlots() : number;
    }

    /** Offset of an operation's place in the target memory. */
    int offset(long number) {
        return (int) (number % slots()) * size;
    }

    /** Allocates the memory that the operations write or read. */
    RegisteredMemory remoteMemory() throws IOException {
        return RegisteredMemory.allocate(size * remoteSlots(),
                mode == BlastMode.WRITE ? EnumSet.of(RdmaPermission.LOCAL_WRITE, RdmaPermission.REMOTE_WRITE)
                        : EnumSet.of(RdmaPermission.REMOTE_READ));
    }

    BlastEnd end(boolean client) {
        return client == byServer ? new BlastTarget(this) : new Blaster(this);
    }

    /** Name in tables. */
    String name() {
        return mode.name().toLowerCase(Locale.ROOT) + ' ' + Figures.size(size);
    }

    @Override
    public String toString() {
        return "blast " + mode + (byServer ? " by server " : " ") + size + " bytes, " + count + " times after "
                + warmUp + ", chains of " + chain
                + (check ? "" : ", unchecked");
    }
}
