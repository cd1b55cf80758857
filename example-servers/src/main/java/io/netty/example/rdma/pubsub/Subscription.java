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
package io.netty.example.rdma.pubsub;

/**
 * Settings that publisher and subscribers must share. Only the count is each subscriber's own.
 *
 * @param by      the end that moves the editions
 * @param edition format of the editions
 * @param count   number of editions that a subscriber wants to see
 */
public record Subscription(By by, Edition edition, long count) {
    static final int MAX_SIZE = 1 << 20;

    /** Operations that move the editions: reads of the subscriber, or writes of the publisher. */
    public enum By {
        READ, WRITE;

        /** Returns the name on the command line. */
        @Override
        public String toString() {
            return this == READ ? "read" : "write";
        }
    }

    /** Size of the content of an edition, in bytes. */
    int size() {
        return edition.size();
    }

    @Override
    public String toString() {
        return "editions by " + by + ", of " + edition;
    }
}
