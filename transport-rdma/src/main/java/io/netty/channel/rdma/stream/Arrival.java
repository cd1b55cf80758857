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

/** The place of the bytes of the last data message. One object per connection; the next message overwrites it. */
public final class Arrival {
    ReceiveArea area;
    int segment;
    int offset;
    int length;
    boolean filled;

    public Arrival() { }

    /** Sets the place; see the methods of the same names. */
    public void of(ReceiveArea newArea, int newSegment, int newOffset, int newLength, boolean isFilled) {
        area = newArea;
        segment = newSegment;
        offset = newOffset;
        length = newLength;
        filled = isFilled;
    }

    public ReceiveArea area() {
        return area;
    }

    public int segment() {
        return segment;
    }

    /** Offset in bytes of the first new byte in the segment. */
    public int offset() {
        return offset;
    }

    /** Number of new bytes, at least 1; 0 after {@link StreamEvent#RETRACTED}. */
    public int length() {
        return length;
    }

    /**
     * Returns whether no more bytes will arrive in the segment. It must be given back with {@link ReceiveArea#release}
     * when all its bytes are consumed.
     */
    public boolean filled() {
        return filled;
    }
}
