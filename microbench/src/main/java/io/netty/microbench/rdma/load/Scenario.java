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
 * A kind of operation that a client repeats, and that is measured. In a closed load, the next operation starts when one
 * has ended. In a paced load, operations are due at equal intervals, whether others have ended or not.
 *
 * @param name      name in the table, in words
 * @param inFlight  number of operations in flight at any time; in a paced load, the maximum
 * @param bytes     payload of an operation, if bytes are counted; 0 if operations are counted
 * @param perSecond number of operations that are due a second; 0 for a closed load
 * @param operation starts an operation
 */
public record Scenario(String name, int inFlight, long bytes, int perSecond, Operation operation) {
    public Scenario {
        if (inFlight < 1 || bytes < 0 || perSecond < 0) {
            throw new IllegalArgumentException("inFlight (1..) " + inFlight + ", bytes (0..) " + bytes
                    + ", perSecond (0..) " + perSecond);
        }
    }

    /** Creates a scenario of a closed load. */
    public Scenario(String name, int inFlight, long bytes, Operation operation) {
        this(name, inFlight, bytes, 0, operation);
    }

    /**
     * Creates a scenario of operations with futures.
     *
     * @param operation starts an operation. Called on the client's event loop. The future is notified on that event
     *                  loop. It succeeds when the right answer has come, and fails otherwise
     */
    public Scenario(String name, int inFlight, long bytes, Supplier<Future<?>> operation) {
        this(name, inFlight, bytes, (Completion completion) ->
                operation.get().addListener(done -> completion.ended(done.cause())));
    }

    /**
     * Creates a scenario of operations that are due at equal intervals. An operation starts whether others have ended
     * or not, unless too many are in flight. Then it starts late, which its latency includes, because this begins at
     * the due time.
     *
     * @param perSecond   number of operations that are due a second, 1 and more
     * @param maxInFlight maximum number of operations in flight, so that a rate which is too high does not fill the
     *                    memory
     */
    public static Scenario paced(String name, int perSecond, int maxInFlight, Operation operation) {
        if (perSecond < 1) {
            throw new IllegalArgumentException("perSecond (1..) " + perSecond);
        }
        return new Scenario(name, maxInFlight, 0, perSecond, operation);
    }

    /** Creates a scenario of one operation after the other. */
    public static Scenario oneByOne(String name, Supplier<Future<?>> operation) {
        return new Scenario(name, 1, 0, operation);
    }

    /** Creates a scenario of large operations, one after the other, whose bytes are counted. */
    public static Scenario transfer(String name, long bytes, Supplier<Future<?>> operation) {
        return new Scenario(name, 1, bytes, operation);
    }

    /** Returns the share of one of several event loops. All shares together have all operations in flight. */
    Scenario share(int loop, int loops) {
        return new Scenario(name, (inFlight + loop) / loops, bytes, perSecond, operation);
    }

    /**
     * An operation.
     */
    @FunctionalInterface
    public interface Operation {
        /**
         * Starts an operation, which does not end before this returns. Called on the client's event loop.
         *
         * @param completion to be called once, on that event loop. Later operations may get the same object: a round
         *                   trip of a microsecond has no time for an object of its own
         */
        void start(Completion completion);
    }

    /** Takes the end of an operation. */
    @FunctionalInterface
    public interface Completion {
        /**
         * Notes the end of the operation.
         *
         * @param cause {@code null} if the right answer has come
         */
        void ended(Throwable cause);
    }
}
