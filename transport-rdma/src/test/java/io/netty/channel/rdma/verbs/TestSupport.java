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
package io.netty.channel.rdma.verbs;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Addresses and bounded waiting.
 */
final class TestSupport {
    private static final long LIMIT_SECONDS = 20L * Integer.getInteger("test.timeout.multiplier", 1);
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);

    /** Whoever waits for the event gives up first. */
    static final int RESOLVE_MILLIS = (int) TimeUnit.SECONDS.toMillis(LIMIT_SECONDS);

    private TestSupport() { }

    /** One attempt of something that is waited for. */
    interface Attempt<T> {
        /** Returns {@code null} for not yet. */
        T get() throws Exception;
    }

    /** A completion copied out of the batch. */
    record Completion(long id, int status, int opcode, int byteLength, boolean hasImmediate, int immediate,
                      int queuePairNumber) { }

    static InetSocketAddress address(int port) {
        return address("io.netty.rdma.test.address", "127.0.0.1", port);
    }

    static InetSocketAddress address6(int port) {
        return address("io.netty.rdma.test.address6", "::1", port);
    }

    private static InetSocketAddress address(String property, String embedded, int port) {
        try {
            return new InetSocketAddress(InetAddress.getByName(System.getProperty(property, embedded)), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    static <T> T await(String what, Attempt<T> attempt) throws Exception {
        long deadline = System.nanoTime() + LIMIT_NANOS;
        for (;;) {
            T result = attempt.get();
            if (result != null) {
                return result;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("gave up waiting for " + what);
            }
            Thread.onSpinWait();
        }
    }

    /** The next event of a channel, which must be of this type. */
    static ConnectionEvent event(EventChannel channel, ConnectionEventType type) throws Exception {
        ConnectionEvent event = await(type.toString(), channel::nextEvent);
        assertThat(event.type()).as(event.toString()).isEqualTo(type);
        return event;
    }

    /** The next completions of a queue, in order. */
    static List<Completion> completions(CompletionQueue queue, int count) throws Exception {
        WorkCompletions batch = new WorkCompletions(count);
        List<Completion> result = new ArrayList<>();
        await(count + " completions, got " + result, () -> {
            if (queue.poll(batch) > 0) {
                for (int i = 0; i < batch.size(); i++) {
                    result.add(new Completion(batch.workRequestId(i), batch.status(i), batch.opcode(i),
                            batch.byteLength(i), batch.hasImmediate(i), batch.immediate(i), batch.queuePairNumber(i)));
                }
            }
            return result.size() >= count ? result : null;
        });
        assertThat(result).hasSize(count);
        return result;
    }

    static Completion completion(CompletionQueue queue) throws Exception {
        return completions(queue, 1).get(0);
    }

    /** The next completion, which must be of this status. */
    static Completion completion(CompletionQueue queue, int status) throws Exception {
        Completion completion = completion(queue);
        assertThat(WorkCompletionStatus.describe(completion.status())).isEqualTo(WorkCompletionStatus.describe(status));
        return completion;
    }
}
