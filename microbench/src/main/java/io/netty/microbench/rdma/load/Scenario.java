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
package io.netty.microbench.rdma.load;

import io.netty.util.concurrent.Future;

import java.util.function.Supplier;

/**
 * Something that a client does over and over, and that is measured. The load is closed, where the next operation starts
 * when one has ended, or paced, where operations are due at equal intervals whether others have ended or not.
 *
 * @param name      in words, as in the table
 * @param inFlight  how many operations are under way at any time; if they are paced, how many at most
 * @param bytes     payload of an operation, if that is what counts, else 0: operations are counted
 * @param perSecond how many operations are due a second, or 0 if the load is closed
 * @param operation what is done
 */
public record Scenario(String name, int inFlight, long bytes, int perSecond, Operation operation) {
    public Scenario {
        if (inFlight < 1 || bytes < 0 || perSecond < 0) {
            throw new IllegalArgumentException("inFlight (1..) " + inFlight + ", bytes (0..) " + bytes
                    + ", perSecond (0..) " + perSecond);
        }
    }

    /** Scenario of a closed load. */
    public Scenario(String name, int inFlight, long bytes, Operation operation) {
        this(name, inFlight, bytes, 0, operation);
    }

    /**
     * Scenario of operations whose future says when they have ended.
     *
     * @param operation starts one. Called on the client's event loop. What it returns succeeds, on that event loop,
     *                  when the answer has come and was found to be right, and fails otherwise
     */
    public Scenario(String name, int inFlight, long bytes, Supplier<Future<?>> operation) {
        this(name, inFlight, bytes, (Completion completion) ->
                operation.get().addListener(done -> completion.ended(done.cause())));
    }

    /**
     * Scenario of operations that are due at equal intervals. An operation starts whether others have ended or not,
     * unless too many are in flight: then it starts late, which shows in its latency, as that begins at the due time.
     *
     * @param perSecond   how many are due a second, 1 and more
     * @param maxInFlight how many are under way at most, so that a rate which is too high does not fill the memory
     */
    public static Scenario paced(String name, int perSecond, int maxInFlight, Operation operation) {
        if (perSecond < 1) {
            throw new IllegalArgumentException("perSecond (1..) " + perSecond);
        }
        return new Scenario(name, maxInFlight, 0, perSecond, operation);
    }

    /** One operation after the other. */
    public static Scenario oneByOne(String name, Supplier<Future<?>> operation) {
        return new Scenario(name, 1, 0, operation);
    }

    /** Large operations one after the other, of which the bytes are counted. */
    public static Scenario transfer(String name, long bytes, Supplier<Future<?>> operation) {
        return new Scenario(name, 1, bytes, operation);
    }

    /** The part that one of several event loops has: its share of the operations under way, in which none is lost. */
    Scenario share(int loop, int loops) {
        return new Scenario(name, (inFlight + loop) / loops, bytes, perSecond, operation);
    }

    /**
     * An operation.
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
