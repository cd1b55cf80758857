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
 * A send work request that the caller must post now, after all earlier ones of this connection. One object per
 * connection; the next request overwrites it.
 */
public final class StreamWorkRequest {
    /** The purpose of the work request. */
    public enum Kind {
        /** RDMA WRITE WITH IMMEDIATE of application bytes. */
        DATA,
        /**
         * RDMA WRITE WITH IMMEDIATE of the 16 bytes {@link #entryHead()}, {@link #entryTail()} into the peer's target
         * SGL. The bytes must be sent inline, or stay unchanged until the completion.
         */
        ADVERTISE,
        /** The five: RDMA WRITE WITH IMMEDIATE of no bytes; address and key are 0. */
        CREDIT, SHUTDOWN, DISCONNECT, RETRACT, RETRACTED,
        /** SEND of the bytes of {@link #message()}, inline. */
        MESSAGE,
        /** RDMA WRITE of no bytes, without immediate; address and key are 0. The peer's process does not notice it. */
        KEEP_ALIVE
    }

    Kind kind;
    int immediate;
    long remoteAddress;
    int remoteKey;
    int length;
    long entryHead;
    long entryTail;
    byte[] message;
    long sequence;
    boolean signalled;

    public StreamWorkRequest() { }

    public Kind kind() {
        return kind;
    }

    /** The immediate as a host integer; see {@link Immediate}. Meaningless for {@link Kind#KEEP_ALIVE}. */
    public int immediate() {
        return immediate;
    }

    public long remoteAddress() {
        return remoteAddress;
    }

    public int remoteKey() {
        return remoteKey;
    }

    /** Bytes to write: those granted for {@link Kind#DATA}, 16 for {@link Kind#ADVERTISE}, otherwise 0. */
    public int length() {
        return length;
    }

    /** The first 8 bytes of a target SGL entry. Stored in this host's byte order, they are in the peer's byte order. */
    public long entryHead() {
        return entryHead;
    }

    /** The last 8 bytes of a target SGL entry, to be stored like the first. */
    public long entryTail() {
        return entryTail;
    }

    /** The bytes of {@link Kind#MESSAGE}. */
    public byte[] message() {
        return message;
    }

    /**
     * The number of this work request on its connection, from 0 without gaps over all kinds: the argument of {@link
     * SendQueue#completed(long)}.
     */
    public long sequence() {
        return sequence;
    }

    /**
     * Returns whether the work request must ask for a completion. Another one may, if the caller calls {@link
     * SendQueue#signal()}.
     */
    public boolean signalled() {
        return signalled;
    }

    /** Sets the fields of a new request, without its number. */
    public void of(Kind kind, int immediate, long remoteAddress, int remoteKey, int length) {
        this.kind = kind;
        this.immediate = immediate;
        this.remoteAddress = remoteAddress;
        this.remoteKey = remoteKey;
        this.length = length;
    }

    /** Sets the fields of a SEND of these bytes, which must not change before the post. */
    public void ofMessage(byte[] bytes) {
        of(Kind.MESSAGE, 0, 0, 0, bytes.length);
        message = bytes;
    }

    /** Encodes a target SGL entry in the byte order of the host that reads it. */
    void entry(long address, int key, int length, boolean hostBigEndian, boolean peerBigEndian) {
        boolean swap = hostBigEndian != peerBigEndian;
        int first = swap ? Integer.reverseBytes(key) : key;
        int second = swap ? Integer.reverseBytes(length) : length;
        entryHead = swap ? Long.reverseBytes(address) : address;
        entryTail = hostBigEndian ? (long) first << 32 | second & 0xFFFFFFFFL
                                  : (long) second << 32 | first & 0xFFFFFFFFL;
    }
}
