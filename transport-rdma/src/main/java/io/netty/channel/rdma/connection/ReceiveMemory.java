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

import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.channel.rdma.memory.DeviceContext;
import io.netty.channel.rdma.memory.PinnedMemory;
import io.netty.channel.rdma.monitor.Recorder;
import io.netty.channel.rdma.stream.Arrival;
import io.netty.channel.rdma.stream.StreamMachine;
import io.netty.channel.rdma.stream.StreamProtocol;
import io.netty.channel.rdma.stream.TargetSgl;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The memory in which all bytes of one connection arrive. It starts small, because registered memory must exist before
 * the peer may write, and most connections of a large server are idle. It grows while the peer has to wait for memory,
 * and shrinks when it is not used. With some protocols it has its whole size from the start: those that offer one
 * segment at a time, and whose peers allocate as much as that.
 *
 * <p><b>Growing.</b> Each step adds a {@link ReceiveBuffer} that makes the memory four times as large, up to SO_RCVBUF.
 * So later steps have larger buffers, except perhaps the last one. The memory is too small if the peer has used up all
 * of the memory that it was offered. This test fails for a distant peer, to which a little memory is always on offer.
 * So the memory also is too small if all of it is filled again in less than {@value #WINDOW_NANOS} ns, which is longer
 * than the round trip of a network for RDMA. In both cases it grows only if the application has read more than half of
 * it, because otherwise the peer waits for the application. So a peer can get no more than SO_RCVBUF, and only while
 * its bytes are read.
 *
 * <p><b>Shrinking.</b> If no more bytes arrived in {@code RECEIVE_BUFFER_IDLE_MILLIS} than smaller memory has room for,
 * the latest buffers are not offered any more. The peer can still use parts that it was offered. It is asked to give
 * them back; a peer that does not understand the request (librdmacm) fills them first. A buffer is freed when all its
 * segments have come back, and counts until then. The application may hold buffers in any order. So a buffer that is
 * not free yet is used again only for the step that it was made for. The memory does not shrink to buffers of which the
 * application keeps every segment: nothing more could arrive, so the memory would never grow again.
 *
 * <p>On the loop of the connection, once it is attached to one.
 */
final class ReceiveMemory {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ReceiveMemory.class);

    /**
     * The bytes of the first buffer. A TCP socket of Linux offers as much at first; a queue pair costs about as much.
     */
    static final int FIRST_BYTES = 64 << 10;
    /** The peer fills one segment while the other one is read, as in librdmacm. It is told of one when it connects. */
    private static final int FIRST_SEGMENTS = 2;
    private static final int GROWTH = 4;
    /** The segments of a buffer. The peer can fill one while others are read, advertised or held by the application. */
    private static final int SEGMENTS = 8;
    private static final long WINDOW_NANOS = 2_000_000;
    private static final long RETRY_NANOS = 1_000_000_000;

    final DeviceContext device;
    final StreamCounters counters;
    private final int maxBytes;
    private final int idleMillis;
    /** The buffers by their steps: first the offered ones, then others that have not come back. */
    private final ReceiveBuffer[] buffers;
    /** The number of buffers that are offered. */
    private int offered = 1;
    private StreamMachine stream;
    private LoopBinding loop;
    private ConnectionOwner owner;
    private Runnable segmentFreed;
    private LoopBinding.Timer timer;
    /** The size of the buffers that are offered, in bytes. */
    private int size;
    private int held;
    private int unread;
    private boolean begun;
    private boolean usedUp;
    private boolean fast;
    private long arrivedInWindow;
    private long windowNanos;
    private long arrivedSinceTick;
    private boolean failed;
    private long failedNanos;
    private boolean released;

    /**
     * @param protocol of the connection.
     * @param outgoingEntries see {@link ReceiveBuffer#create}; for a protocol with such entries.
     * @param receives        the most receives that are posted.
     * @param messageSize     bytes of each message that is sent to them, or 0.
     * @throws IOException if there is no memory for the first buffer.
     */
    ReceiveMemory(DeviceContext device, StreamOptions options, StreamCounters counters, StreamProtocol protocol,
                  int outgoingEntries, int receives, int messageSize) throws IOException {
        this.device = device;
        this.counters = counters;
        maxBytes = options.values.get(StreamOptions.RECEIVE_BUFFER_SIZE);
        idleMillis = options.values.get(StreamOptions.RECEIVE_BUFFER_IDLE_MILLIS);
        size = protocol.isReceiveMemoryGrowing() ? Math.min(maxBytes, FIRST_BYTES) : maxBytes;
        buffers = new ReceiveBuffer[1 + steps(size, maxBytes)];
        int sglEntries = protocol.targetSglEntries();
        // The entries behind the messages stay aligned.
        int messageBytes = receives * messageSize + TargetSgl.ENTRY_SIZE - 1 & -TargetSgl.ENTRY_SIZE;
        buffers[0] = ReceiveBuffer.create(this, FIRST_SEGMENTS, size / FIRST_SEGMENTS, sglEntries,
                sglEntries == 0 ? 0 : outgoingEntries, messageBytes, true);
        if (buffers[0] == null) {
            throw PinnedMemory.PROCESS.exhausted("no registered memory for a receive buffer");
        }
    }

    private static int steps(int from, int to) {
        int steps = 0;
        for (long bytes = from; bytes < to; bytes *= GROWTH) {
            steps++;
        }
        return steps;
    }

    ReceiveBuffer first() {
        return buffers[0];
    }

    /**
     * Sets the other objects of the connection, before anything is delivered.
     *
     * @param currentLoop    the connection's.
     * @param onSegmentFreed run on the loop when there is more memory to offer to the peer.
     */
    void attach(LoopBinding currentLoop, ConnectionOwner connectionOwner, StreamMachine machine,
                Runnable onSegmentFreed) {
        loop = currentLoop;
        stream = machine;
        owner = connectionOwner;
        segmentFreed = onSegmentFreed;
        windowNanos = loop.nanoTime();
    }

    LoopBinding loop() {
        return loop;
    }

    /** Notes an arrival. Returns its segment. */
    ReceiveBuffer.Segment arrived(Arrival arrival) {
        arrivedSinceTick += arrival.length();
        arrivedInWindow += arrival.length();
        unread += arrival.length();
        if (arrivedInWindow >= size) {
            long now = loop.nanoTime();
            fast = now - windowNanos < WINDOW_NANOS;
            windowNanos = now;
            arrivedInWindow = 0;
        }
        usedUp = stream.offeredBytes() == 0;
        return segment(arrival);
    }

    /** The segment of the latest arrival, which may be of no bytes. */
    ReceiveBuffer.Segment segment(Arrival arrival) {
        return ((ReceiveBuffer) arrival.area()).segment(arrival.segment());
    }

    /** Notes that the application has read so many bytes. It may keep their memory. */
    void read(int bytes) {
        unread -= bytes;
    }

    /** Notes that the peer has given back the memory that it was offered. */
    void retracted() {
        usedUp = false;
        freeIdle();
    }

    /** Grows, if the peer has to wait for memory. Called before the peer is told of free segments. */
    void beforeOffer() {
        if (!begun) {
            // The peer was told of one segment only.
            begun = stream.isOfferingMore();
            usedUp = false;
        }
        if (size < maxBytes && (fast || usedUp && stream.offeredBytes() == 0) && unread < size >> 1 &&
                !released) {
            fast = false;
            grow();
        }
    }

    private void grow() {
        ReceiveBuffer buffer = buffers[offered];
        if (buffer == null) {
            int target = (int) Math.min(maxBytes, (long) size * GROWTH);
            int segmentLength = target / SEGMENTS;
            buffer = create((target - size) / segmentLength, segmentLength);
            if (buffer == null) {
                return;
            }
            buffers[offered] = buffer;
        }
        offered++;
        resized((int) (size + buffer.length()));
        stream.addArea(buffer);
        if (timer == null) {
            schedule();
        }
    }

    private void resized(int newSize) {
        if (newSize != size && Recorder.isOn()) {
            Recorder.receiveMemory(owner.remote(), size, newSize);
        }
        size = newSize;
    }

    private ReceiveBuffer create(int segments, int segmentLength) {
        if (failed && loop.nanoTime() - failedNanos < RETRY_NANOS) {
            return null;
        }
        ReceiveBuffer buffer = null;
        try {
            buffer = ReceiveBuffer.create(this, segments, segmentLength, 0, 0, 0, false);
        } catch (VerbsException | OutOfMemoryError e) {
            logger.debug("A receive buffer could not grow beyond {} bytes", size, e);
        }
        // The connection works with what it has. A failure may be slow, so not each arrival tries again.
        failed = buffer == null;
        failedNanos = loop.nanoTime();
        return buffer;
    }

    private void schedule() {
        try {
            timer = loop.schedule(this::tick, idleMillis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The loop has ended, and with it the connection.
            timer = null;
        }
    }

    private void tick() {
        timer = null;
        boolean ask = false;
        int left = size;
        while (offered > 1 && arrivedSinceTick <= left - buffers[offered - 1].length() && !isPinnedBeforeLast()) {
            ReceiveBuffer buffer = buffers[--offered];
            left -= (int) buffer.length();
            stream.removeArea(buffer);
            ask |= !buffer.isIdle();
        }
        resized(left);
        arrivedSinceTick = 0;
        // Fast arrivals of the past are no reason to grow now, or after the peer has given parts back.
        fast = false;
        if (freeIdle() || offered > 1) {
            schedule();
        }
        if (ask && stream.retract()) {
            segmentFreed.run();
        }
    }

    /** Returns whether the application keeps all buffers before the last one. */
    private boolean isPinnedBeforeLast() {
        for (int step = 0; step < offered - 1; step++) {
            if (buffers[step].unheldSegments() > 0) {
                return false;
            }
        }
        return true;
    }

    /** Frees buffers that are not offered and have come back. Returns whether others have not come back. */
    private boolean freeIdle() {
        boolean busy = false;
        for (int step = offered; step < buffers.length && !released; step++) {
            if (buffers[step] != null && buffers[step].isIdle()) {
                buffers[step].release();
                buffers[step] = null;
            }
            busy |= buffers[step] != null;
        }
        return busy;
    }

    /** Offers memory again, because a segment was freed. On the loop. */
    void segmentFreed() {
        freeIdle();
        segmentFreed.run();
    }

    /** Adds the length of a segment when the application gets its first buffer, and subtracts it with the last. */
    void addHeld(int bytes) {
        held += bytes;
    }

    /**
     * Returns whether the application keeps half of the memory. It then gets copies. If it kept all, nothing more could
     * arrive, and an application that collects a message longer than this memory would wait for ever.
     */
    boolean isHalfHeld() {
        return held >= size >> 1;
    }

    /** Releases the buffers, because no queue pair can write here any more. */
    void release() {
        released = true;
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
        for (ReceiveBuffer buffer : buffers) {
            if (buffer != null) {
                buffer.release();
            }
        }
    }
}
