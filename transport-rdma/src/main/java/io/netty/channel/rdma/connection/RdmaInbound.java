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
package io.netty.channel.rdma.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.rdma.connection.StreamCounters.Copy;
import io.netty.channel.rdma.memory.PartialByteBuf;
import io.netty.channel.rdma.stream.Arrival;
import io.netty.util.UncheckedBooleanSupplier;

import java.util.ArrayDeque;

/**
 * Bytes that have arrived on one connection and were not read yet.
 *
 * <p>The pipeline gets long arrivals as slices of the receive buffer, and short ones as copies, because a slice holds
 * its segment back from the peer until it is released. All are copied while {@link ReceiveMemory#isHalfHeld}.
 *
 * <p>On the loop of the connection.
 */
public final class RdmaInbound implements UncheckedBooleanSupplier {
    private final ConnectionOwner owner;
    private final StreamCounters counters;
    private final ReceiveMemory memory;
    private final int copyThreshold;
    private final ArrayDeque<ReceiveBuffer.Segment> segments = new ArrayDeque<>();
    /** The first segment, or {@code null}. A segment that was read to its end stays while it may get more bytes. */
    private ReceiveBuffer.Segment head;
    private boolean ended;
    private boolean lost;
    private boolean discarding;

    RdmaInbound(ConnectionOwner owner, ConnectionResources resources) {
        this.owner = owner;
        memory = resources.receiveMemory;
        counters = resources.counters;
        copyThreshold = resources.options.values.get(StreamOptions.RECEIVE_COPY_THRESHOLD);
    }

    void arrived(Arrival arrival) {
        ReceiveBuffer.Segment segment = memory.arrived(arrival);
        if (arrival.offset() == 0) {
            segment.begin();
            segments.add(segment);
            head = segments.peek();
        }
        segment.writeIndex = arrival.offset() + arrival.length();
        segment.filled = arrival.filled();
        if (discarding) {
            discard();
        }
    }

    /** Handles the memory that the peer has given back. A segment that the peer had begun gets no more bytes. */
    void retracted(Arrival arrival) {
        // The memory is told first, because the next calls may offer memory, and it must not grow now.
        memory.retracted();
        if (arrival.area() != null) {
            ReceiveBuffer.Segment segment = memory.segment(arrival);
            segment.filled = true;
            if (segment == head) {
                take(segment, 0);
            }
        }
    }

    /** Notes that the peer has ended its stream. */
    void end() {
        ended = true;
    }

    /** Notes that nothing more can come. */
    public void lost() {
        lost = true;
    }

    /** Returns whether all bytes of the peer were read, and no more will come. */
    public boolean isAtEnd() {
        return isEnded() && !hasBytes();
    }

    /** Returns whether the input has ended: no more bytes will come. */
    public boolean isEnded() {
        return ended || lost;
    }

    /** Returns whether the peer has ended its stream. */
    public boolean isEndedByPeer() {
        return ended;
    }

    /** Returns whether the application has bytes to read. */
    public boolean hasBytes() {
        return head != null && head.readIndex < head.writeIndex;
    }

    /** Returns whether the next iteration of the read loop has bytes or an end to deliver. */
    @Override
    public boolean get() {
        return hasBytes() || isEnded();
    }

    /** Drops all bytes from now on, because they are not read any more, so that the peer can continue. */
    public void discard() {
        discarding = true;
        while (hasBytes()) {
            take(head, head.writeIndex - head.readIndex);
        }
    }

    /**
     * Returns the next bytes, at least one.
     *
     * @param handle bounds the bytes, if it is the application's. The guess of the default allocator's handle is a size
     *         to allocate, and nothing is allocated here.
     */
    public ByteBuf read(RecvByteBufAllocator.ExtendedHandle handle) {
        int offset = head.readIndex;
        int length = head.writeIndex - offset;
        if (owner.isReceiveAllocatorSet()) {
            length = Math.min(length, Math.max(1, handle.guess()));
        }
        handle.attemptedBytesRead(length);
        ByteBufAllocator allocator = owner.allocator();
        ByteBuf buf;
        if (length > copyThreshold && (head.held || !memory.isHalfHeld())) {
            buf = PartialByteBuf.tracked(ReceivedByteBuf.of(allocator, head, offset, length));
            counters.receivedInPlace(length);
        } else {
            buf = allocator.directBuffer(length);
            head.copyTo(buf, offset, length);
            counters.receivedCopied(length, length > copyThreshold ? Copy.RECEIVED_HELD : Copy.RECEIVED_SMALL);
        }
        take(head, length);
        return buf;
    }

    private void take(ReceiveBuffer.Segment segment, int length) {
        segment.readIndex += length;
        memory.read(length);
        if (segment.filled && segment.readIndex == segment.writeIndex) {
            segments.poll();
            head = segments.peek();
            segment.end();
        }
    }
}
