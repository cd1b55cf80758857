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
package io.netty.example.rdma.compare;

import io.netty.util.concurrent.Future;

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

    /** One operation after the other. */
    public static Scenario oneByOne(String name, Operation operation) {
        return new Scenario(name, 1, 0, operation);
    }

    /** Large operations one after the other, of which the bytes are counted. */
    public static Scenario transfer(String name, long bytes, Operation operation) {
        return new Scenario(name, 1, bytes, operation);
    }

    /**
     * What is done.
     */
    @FunctionalInterface
    public interface Operation {
        /**
         * Starts one. Called on the client's event loop.
         *
         * @return succeeds, on that event loop, when the answer has come and was found to be right; fails otherwise
         */
        Future<?> start();
    }
}
