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
package io.netty.channel.rdma.stream;

import java.util.Random;

/**
 * An application and its protocol implementation at one end of a {@link Simulation}. It sends a fixed number of bytes,
 * each a function of its position, and then ends its output; and checks what it receives against the same function.
 */
interface Endpoint {
    SimulatedQueuePair queuePair();

    byte[] connectionData();

    void establish(byte[] peerData) throws StreamProtocolException;

    /** Writes up to some number of bytes, then perhaps ends the output. Returns whether anything was done. */
    boolean produce(int limit) throws StreamProtocolException;

    /** Handles up to so many completions. Returns whether there were any. */
    boolean poll(int limit) throws StreamProtocolException;

    /** The application reads some of what it has. Returns whether anything was done. */
    boolean consume(Random random, boolean all);

    /** Sends control messages that are due. Returns whether there were any. */
    boolean control();

    /** Anything that this implementation may do at any time. */
    default void surprise(Random random) {
    }

    /** All bytes were sent, all of the peer's bytes and its end arrived and were consumed. */
    boolean finished();

    /** The value of the byte at a position of the stream that the given side sends. */
    static byte value(long position) {
        long x = position * 0x9E3779B97F4A7C15L;
        return (byte) (x >>> 56);
    }
}
