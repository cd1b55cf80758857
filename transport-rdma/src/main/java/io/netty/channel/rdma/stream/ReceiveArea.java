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
 * Memory of one connection in which bytes of the peer arrive: equal segments, one after the other, under one rkey. A
 * segment is advertised to the peer, filled from start to end, and given back by {@link #release}. The owner of the
 * memory may extend this class to find the bytes of a segment.
 * <p>
 * Used by the connection's event loop only.
 */
public class ReceiveArea {
    /** Longest segment in bytes; one data message can fill it. */
    public static final int MAX_SEGMENT_LENGTH = Immediate.MAX_VALUE;
    private static final int MAX_SEGMENTS = 1 << 16;

    private static final byte FREE = 0;
    private static final byte ADVERTISED = 1;
    private static final byte FILLED = 2;

    private final long address;
    private final int key;
    private final int segmentLength;
    private final byte[] states;
    /** Ring of the free segments in the order of their release. The first one is the longest unused. */
    private final int[] free;
    private int firstFree;
    private int freeCount;

    /**
     * @param address of the first byte
     * @param key rkey of the whole area; remote write must be allowed
     * @param segments 1 to 65536
     * @param segmentLength in bytes, 1 to {@link #MAX_SEGMENT_LENGTH}
     */
    public ReceiveArea(long address, int key, int segments, int segmentLength) {
        if (segments < 1 || segments > MAX_SEGMENTS) {
            throw new IllegalArgumentException("segments: " + segments + " (expected: 1 to " + MAX_SEGMENTS + ')');
        }
        if (segmentLength < 1 || segmentLength > MAX_SEGMENT_LENGTH) {
            throw new IllegalArgumentException("segmentLength: " + segmentLength + " (expected: 1 to " +
                    MAX_SEGMENT_LENGTH + ')');
        }
        this.address = address;
        this.key = key;
        this.segmentLength = segmentLength;
        states = new byte[segments];
        free = new int[segments];
        for (int i = 0; i < segments; i++) {
            free[i] = i;
        }
        freeCount = segments;
    }

    public final int key() {
        return key;
    }

    public final int segmentLength() {
        return segmentLength;
    }

    /** Address of the first byte of a segment. */
    public final long segmentAddress(int segment) {
        return address + (long) segment * segmentLength;
    }

    /** Bytes of all segments. */
    public final long length() {
        return (long) states.length * segmentLength;
    }

    /** Segments that are neither advertised nor filled. */
    public final int freeSegments() {
        return freeCount;
    }

    /**
     * Returns whether no segment is advertised or held by the application. After {@link StreamConnection#removeArea} an
     * idle area may be deregistered.
     */
    public final boolean isIdle() {
        return freeCount == states.length;
    }

    /**
     * Gives a filled segment back when all its bytes are consumed. The caller then calls {@link
     * StreamConnection#nextControl}, because an advertisement may be due.
     *
     * @throws IllegalStateException if the segment is not filled; so two owners of the same bytes are noticed
     */
    public final void release(int segment) {
        if (states[segment] != FILLED) {
            throw new IllegalStateException("segment " + segment + " is not filled: it is " +
                    (states[segment] == FREE ? "free" : "advertised to the peer"));
        }
        free(segment);
    }

    /** Takes the longest unused free segment; there must be one. */
    public final int advertise() {
        int segment = free[firstFree];
        firstFree = (firstFree + 1) % free.length;
        freeCount--;
        states[segment] = ADVERTISED;
        return segment;
    }

    /** Notes that the peer has written the last byte of an advertised segment. */
    public final void fill(int segment) {
        states[segment] = FILLED;
    }

    /** Frees an advertised segment that the peer has given back without writing to it. */
    final void retract(int segment) {
        free(segment);
    }

    private void free(int segment) {
        states[segment] = FREE;
        free[(firstFree + freeCount) % free.length] = segment;
        freeCount++;
    }
}
