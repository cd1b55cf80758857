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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The window of the peer: the segments that were advertised to it and are not yet filled, in order, and credits.
 * <p>
 * A message costs the receiver nothing but its receive work request, since its bytes simply follow those before; so its
 * credit comes back when that is posted again, read or not. Only memory holds a fast peer back: segments that the
 * application keeps are not advertised.
 */
final class ReceiveWindow {
    /**
     * The most segments that are advertised. More would hardly ever be in use; a peer that offers a huge table must not
     * cost as much here.
     */
    private static final int MAX_OUTSTANDING = 64;

    private final int credits;
    /** Used credits from which on the peer is told of new ones. */
    private final int grantFrom;
    /** Areas whose segments are advertised, the latest one last. */
    private final List<ReceiveArea> current = new ArrayList<>(1);
    private ReceiveArea latest;
    /** Segments that are advertised and not filled, oldest first, a ring. */
    private ReceiveArea[] areas = new ReceiveArea[1];
    private int[] segments = new int[1];
    private int first;
    private int count;
    /** Bytes that arrived in the oldest of them. */
    private int offset;
    /** Bytes that may still arrive in them. */
    long offered;
    private boolean retractable;
    /** The peer is to be asked, or was asked, to give back what it was offered: so nothing more is offered. */
    private boolean retracting;
    private boolean asked;
    /** The peer has filled a quarter of the first segment. */
    boolean begun;
    private int received;
    private int receivedSinceGrant;
    private boolean peerBigEndian;
    private long sglAddress;
    private int sglKey;
    private int sglEntries;
    private int nextEntry;

    /** The segment is the one that the connection data advertises. */
    ReceiveWindow(int credits, ReceiveArea area, int segment) {
        this.credits = credits;
        grantFrom = Math.max(1, credits >> 1);
        add(area);
        areas[0] = area;
        segments[0] = segment;
        count = 1;
        offered = area.segmentLength();
    }

    void establish(ConnectionData peer) {
        int outstanding = Math.min(peer.sglEntries(), MAX_OUTSTANDING);
        areas = Arrays.copyOf(areas, outstanding);
        segments = Arrays.copyOf(segments, outstanding);
        peerBigEndian = peer.bigEndian();
        sglAddress = peer.sglAddress();
        sglKey = peer.sglKey();
        sglEntries = peer.sglEntries();
        nextEntry = 1;
        retractable = peer.retracts();
    }

    void add(ReceiveArea area) {
        current.add(area);
        latest = area;
    }

    void remove(ReceiveArea area) {
        if (current.size() == 1 || !current.remove(area)) {
            throw new IllegalArgumentException("area: not one of several in use");
        }
        latest = current.get(current.size() - 1);
    }

    /** Returns whether the peer can be asked, or has been. */
    boolean retract() {
        if (!retracting) {
            retracting = retractable && count > 0;
        }
        return retracting;
    }

    boolean wantsRetract() {
        return retracting && !asked;
    }

    void askRetract() {
        asked = true;
    }

    /** The peer has given back all that it was offered. */
    void retracted(Arrival arrival) throws StreamProtocolException {
        if (!asked) {
            throw new StreamProtocolException("the peer gave receive buffers back that it was not asked for");
        }
        retracting = false;
        asked = false;
        arrival.area = null;
        if (offset > 0) {
            arrival.of(areas[first], segments[first], offset, 0, true);
            filled();
        }
        while (count > 0) {
            areas[first].retract(segments[first]);
            next();
        }
        offered = 0;
    }

    void data(int bytes, Arrival arrival) throws StreamProtocolException {
        if (bytes == 0) {
            throw new StreamProtocolException("the peer sent a data message of no bytes");
        }
        if (receivedSinceGrant == credits) {
            throw new StreamProtocolException("the peer sent a data message without a credit: all " + credits +
                    " were used");
        }
        int left = count == 0 ? 0 : areas[first].segmentLength() - offset;
        if (bytes > left) {
            throw new StreamProtocolException("the peer announced " + bytes + " bytes where " + left +
                    " were left of the receive buffer that it was offered");
        }
        arrival.of(areas[first], segments[first], offset, bytes, bytes == left);
        offset += bytes;
        offered -= bytes;
        begun |= offset >= areas[first].segmentLength() >> 2;
        received++;
        receivedSinceGrant++;
        if (arrival.filled) {
            filled();
        }
    }

    private void filled() {
        areas[first].fill(segments[first]);
        offset = 0;
        next();
    }

    private void next() {
        areas[first] = null;
        first = first + 1 == areas.length ? 0 : first + 1;
        count--;
    }

    /**
     * Returns whether the peer should be told of a free segment, or of credits since half of them are used. The
     * connection data has told it of the first segment; of others it is told when it has filled a quarter of that, so
     * that a connection on which little moves costs neither end a message.
     */
    boolean wantsGrant() {
        return receivedSinceGrant >= grantFrom ||
                (begun || count == 0) && (current.size() > 1 || latest.freeSegments() > 0) && advertisable() != null;
    }

    /** Fills the request with a credit update, and with the next free segment if there is one and a place for it. */
    void grant(StreamWorkRequest request) {
        int immediate = Immediate.of(Immediate.CREDIT, received + credits & 0xFFFF);
        receivedSinceGrant = 0;
        ReceiveArea area = advertisable();
        if (area == null) {
            request.of(StreamWorkRequest.Kind.CREDIT, immediate, 0, 0, 0);
            return;
        }
        int segment = area.advertise();
        int last = (first + count) % areas.length;
        areas[last] = area;
        segments[last] = segment;
        count++;
        offered += area.segmentLength();
        request.of(StreamWorkRequest.Kind.ADVERTISE, immediate, sglAddress + (long) nextEntry * TargetSgl.ENTRY_SIZE,
                sglKey, TargetSgl.ENTRY_SIZE);
        request.entry(area.segmentAddress(segment), area.key(), area.segmentLength(), ConnectionData.HOST_BIG_ENDIAN,
                peerBigEndian);
        nextEntry = nextEntry + 1 == sglEntries ? 0 : nextEntry + 1;
    }

    /**
     * The area whose longest unused segment goes next, or null if there is none or no place for it.
     * <p>
     * An entry of the peer's table may be overwritten when the buffer that it described is filled: the peer finished
     * with the entry before it sent the last byte. As entries are used in turn, that is so when fewer buffers are under
     * way than the table has entries.
     * <p>
     * Areas grow, so the latest one has the longest segments, which cost the fewest messages. The others help out when
     * less than half of that is on offer, since the application keeps the rest.
     */
    private ReceiveArea advertisable() {
        if (count == areas.length || retracting) {
            return null;
        }
        if (latest.freeSegments() > 0) {
            return latest;
        }
        for (int i = current.size() - 2; i >= 0 && offered < latest.length() >> 1; i--) {
            if (current.get(i).freeSegments() > 0) {
                return current.get(i);
            }
        }
        return null;
    }
}
