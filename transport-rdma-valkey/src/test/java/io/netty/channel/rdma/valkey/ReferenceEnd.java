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
package io.netty.channel.rdma.valkey;

import java.nio.ByteBuffer;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A {@link SimulatedEnd} that does what the sources of Valkey say ({@code src/rdma.c}, and {@code
 * tests/rdma/rdma-test.c} for a client): one region, which it reads to its end before it registers it again; receives
 * that are posted again at once; no retries for a client whose message finds none.
 */
final class ReferenceEnd extends SimulatedEnd {
    private final boolean server;
    private boolean registered;
    private int arrived;
    private int read;
    private long address;
    private int key;
    private long length;
    private long offset;
    private boolean keepAlive;
    private int answers;
    private int answerSelect;
    private int registrations;

    ReferenceEnd(boolean server, int memoryBytes, int depth, long toSend, long toReceive) {
        // The client's retries count for what the server sends.
        super(memoryBytes, depth, !server, toSend, toReceive);
        this.server = server;
    }

    int registrations() {
        return registrations;
    }

    @Override
    boolean produce(int limit) {
        int n = (int) Math.min(Math.min(limit, toSend - sent), length - offset);
        if (n == 0) {
            return false;
        }
        requests.add(new Request(0, false, address + offset, key, n, values(sent, n)));
        offset += n;
        sent += n;
        return true;
    }

    @Override
    boolean poll(int limit) {
        int n = 0;
        for (Completion completion; n < limit && (completion = completions.poll()) != null; n++) {
            if (!completion.sent()) {
                assertThat(completion.immediate() + arrived).isLessThanOrEqualTo(memory.length);
                arrived += completion.immediate();
            } else {
                assertThat(completion.bytes()).isEqualTo(32);
                handle(ByteBuffer.wrap(slots.array(), (int) completion.id() * 32, 32).slice());
            }
            receives++;
        }
        return n > 0;
    }

    private void handle(ByteBuffer command) {
        switch (command.getShort(0)) {
        case 0:
            assertThat(server).as("a client of Valkey is not asked").isTrue();
            answers++;
            answerSelect = command.getShort(2);
            break;
        case 1:
            assertThat(server).isTrue();
            assertThat(command.getLong(24)).isZero();
            break;
        case 2:
            break;
        case 3:
            address = command.getLong(16);
            length = command.getInt(24) & 0xFFFFFFFFL;
            key = command.getInt(28);
            offset = 0;
            registrations++;
            break;
        default:
            throw new AssertionError("unknown command " + command.getShort(0));
        }
    }

    @Override
    boolean consume(Random random, boolean all) {
        int n = all ? arrived - read : random.nextInt(arrived - read + 1);
        check(read, n);
        read += n;
        return n > 0;
    }

    @Override
    boolean control() {
        boolean did = false;
        if (!registered || read == memory.length) {
            registered = true;
            arrived = 0;
            read = 0;
            send(ByteBuffer.allocate(32).putShort(0, (short) 3).putLong(16, BASE).putInt(24, memory.length)
                    .putInt(28, KEY));
            did = true;
        }
        for (; answers > 0; answers--) {
            send(ByteBuffer.allocate(32).putShort(2, (short) answerSelect));
            did = true;
        }
        if (keepAlive) {
            keepAlive = false;
            send(ByteBuffer.allocate(32).putShort(0, (short) 2));
            did = true;
        }
        return did;
    }

    private void send(ByteBuffer command) {
        requests.add(new Request(0, false, SEND, 0, 0, command.array()));
    }

    @Override
    void surprise() {
        keepAlive = server;
    }
}
