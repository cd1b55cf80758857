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
package io.netty.example.rdma.harness;

import io.netty.util.concurrent.Future;

import java.util.function.Supplier;

/**
 * Something that a client does over and over, and that is measured.
 *
 * @param name     in words, as in the table
 * @param inFlight how many operations are under way at any time
 * @param bytes    payload of an operation, if that is what counts, else 0: operations are counted
 * @param operation what is done
 */
public record Scenario(String name, int inFlight, long bytes, Operation operation) {
    public Scenario {
        if (inFlight < 1 || bytes < 0) {
            throw new IllegalArgumentException("inFlight (1..) " + inFlight + ", bytes (0..) " + bytes);
        }
    }

    /**
     * Of operations that say with a future when they have ended.
     *
     * @param operation starts one. Called on the client's event loop. What it returns succeeds, on that event loop,
     *                  when the answer has come and was found to be right, and fails otherwise
     */
    public Scenario(String name, int inFlight, long bytes, Supplier<Future<?>> operation) {
        this(name, inFlight, bytes, (Completion completion) ->
                operation.get().addListener(done -> completion.ended(done.cause())));
    }

    /** One operation after the other. */
    public static Scenario oneByOne(String name, Supplier<Future<?>> operation) {
        return new Scenario(name, 1, 0, operation);
    }

    /** Large operations one after the other, of which the bytes are counted. */
    public static Scenario transfer(String name, long bytes, Supplier<Future<?>> operation) {
        return new Scenario(name, 1, bytes, operation);
    }

    /**
     * What is done.
     */
    @FunctionalInterface
    public interface Operation {
        /**
         * Starts one, which does not end before this returns. Called on the client's event loop.
         *
         * @param completion to be called once, on that event loop. The same object may come with a later operation: a
         *                   round trip of a microsecond has no time for one of its own
         */
        void start(Completion completion);
    }

    /**
     * Is told that an operation has ended.
     */
    @FunctionalInterface
    public interface Completion {
        /**
         * The operation has ended.
         *
         * @param cause {@code null} if the answer has come and was found to be right
         */
        void ended(Throwable cause);
    }
}
