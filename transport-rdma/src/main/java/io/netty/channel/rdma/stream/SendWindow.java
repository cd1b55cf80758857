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
 * The window that the peer grants: its advertised buffers, in order, and its credits.
 * <p>
 * An entry of the target SGL is copied when its turn comes, and its length zeroed in the shared memory at once. The
 * peer only overwrites an entry once the buffer is filled, which it cannot be before we post into it; so the zero never
 * destroys an update (the race that {@code rs_write_data} of librdmacm warns of), and a peer that changes an entry
 * while it is in use changes nothing for us.
 */
final class SendWindow {
    /** Credit updates of librdmacm are a sum of two 16-bit numbers that is not cut to 16 bits. */
    private static final int MAX_CREDIT_VALUE = (1 << 17) - 1;

    private final TargetSgl sgl;
    private int nextEntry;
    /**
     * True if a credit message came since we last found no buffer. Only its completion orders the memory that was
     * written with it; without one there is no reason to look at an entry that may be half written.
     */
    private boolean mayHaveEntry;
    private long address;
    private int key;
    private long remaining;
    private int peerQueue;
    private int sent;
    private int credits;

    SendWindow(TargetSgl sgl) {
        this.sgl = sgl;
    }

    void establish(ConnectionData peer) {
        peerQueue = peer.credits();
        credits = peer.credits();
        address = peer.bufferAddress();
        key = peer.bufferKey();
        remaining = peer.bufferLength();
        // Entry 0 stands for the buffer of the connection data; the first one that the peer writes is entry 1.
        nextEntry = 1;
    }

    /** Bytes that one message may carry now, 0 when a buffer or a credit is missing. */
    int writable() throws StreamProtocolException {
        if (credits == 0 || remaining == 0 && !nextBuffer()) {
            return 0;
        }
        return (int) Math.min(remaining, Immediate.MAX_VALUE);
    }

    /** Returns whether {@link #writable()} was 0, and the peer has granted nothing since. */
    boolean isHeldUp() {
        return credits == 0 || remaining == 0 && !mayHaveEntry;
    }

    /** {@code bytes} is at least 1 and at most what {@link #writable()} just said. */
    void write(int bytes, StreamWorkRequest request) {
        request.of(StreamWorkRequest.Kind.DATA, Immediate.of(Immediate.DATA, bytes), address, key, bytes);
        address += bytes;
        remaining -= bytes;
        credits--;
        sent++;
    }

    void credit(int value) throws StreamProtocolException {
        // Sequence numbers are 16 bits and absolute: what is granted is the distance from what was sent.
        int granted = value - sent & 0xFFFF;
        if (value > MAX_CREDIT_VALUE || granted < credits || granted > peerQueue) {
            throw new StreamProtocolException("the peer's credit update " + value + " allows " + granted +
                    " messages more (expected: at least the " + credits + " it granted before, at most its queue of " +
                    peerQueue + ')');
        }
        credits = granted;
        mayHaveEntry = true;
    }

    /**
     * Forgets all buffers that the peer offered. Those were written in turn from the next entry on, and the peer offers
     * no others before it has our answer. One that has written elsewhere gets back what is there all the same: it may
     * use that memory for something else now.
     */
    void retract() {
        remaining = 0;
        for (int i = 0; i < sgl.entries() && sgl.length(nextEntry) != 0; i++) {
            sgl.clearLength(nextEntry);
            nextEntry = nextEntry + 1 == sgl.entries() ? 0 : nextEntry + 1;
        }
        for (int i = 0; i < sgl.entries(); i++) {
            if (sgl.length(i) != 0) {
                sgl.clearLength(i);
            }
        }
        mayHaveEntry = false;
    }

    private boolean nextBuffer() throws StreamProtocolException {
        if (!mayHaveEntry) {
            return false;
        }
        long length = sgl.length(nextEntry) & 0xFFFFFFFFL;
        if (length == 0) {
            mayHaveEntry = false;
            return false;
        }
        long newAddress = sgl.address(nextEntry);
        int newKey = sgl.key(nextEntry);
        ConnectionData.checkBuffer(newAddress, length);
        sgl.clearLength(nextEntry);
        address = newAddress;
        key = newKey;
        remaining = length;
        nextEntry = nextEntry + 1 == sgl.entries() ? 0 : nextEntry + 1;
        return true;
    }
}
