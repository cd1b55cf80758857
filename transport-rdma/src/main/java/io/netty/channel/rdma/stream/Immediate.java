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

/**
 * The 32-bit immediate of an rsockets message: a 3-bit type above a 29-bit value.
 * <p>
 * Values here are host integers. Verbs carry immediates in network byte order, so the caller converts with
 * {@code htonl}/{@code ntohl} at the work request and the completion.
 */
final class Immediate {
    /** Value: the number of bytes that were written into the current buffer, at least 1. */
    public static final int DATA = 0;
    /** Value: the sequence number up to which data messages may be sent. A target SGL entry may have been updated. */
    public static final int CREDIT = 4;
    /** Value: the index of an updated iomap entry. This side offers none. */
    public static final int IOMAP = 6;
    /**
     * Value: one of {@link #DISCONNECT}, {@link #KEEP_ALIVE}, {@link #SHUTDOWN}, and to peers that understand it
     * {@link #RETRACT} and {@link #RETRACTED}.
     */
    public static final int CONTROL = 7;

    public static final int DISCONNECT = 0;
    public static final int KEEP_ALIVE = 1;
    public static final int SHUTDOWN = 2;
    /** Request, not of librdmacm, to give back the receive buffers that the peer was offered and has not filled. */
    public static final int RETRACT = 0x100;
    /** Answer, not of librdmacm: the buffers are given back; nothing will be written into them any more. */
    public static final int RETRACTED = 0x101;

    /** The largest value that fits: 2^29 - 1. Also the longest data message, in bytes. */
    public static final int MAX_VALUE = (1 << 29) - 1;

    private Immediate() { }

    /**
     * @param type one of the type constants, 0 to 7
     * @param value 0 to {@link #MAX_VALUE}
     */
    public static int of(int type, int value) {
        return type << 29 | value;
    }

    /** The upper 3 bits, 0 to 7. */
    public static int type(int immediate) {
        return immediate >>> 29;
    }

    /** The lower 29 bits, 0 to {@link #MAX_VALUE}. */
    public static int value(int immediate) {
        return immediate & MAX_VALUE;
    }
}
