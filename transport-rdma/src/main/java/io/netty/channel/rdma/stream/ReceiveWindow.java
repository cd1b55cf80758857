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
 * The receive window: the advertised segments that the peer has not filled yet, in order, and credits.
 * <p>
 * A message uses up only its receive work request, because its bytes follow the previous ones in the segment. So its
 * credit is returned when the receive is posted again, even if the application has not read the bytes. Only memory
 * holds a fast peer back: segments that the application keeps are not advertised.
 */
final class ReceiveWindow {
    /**
     * Maximum number of advertised segments. More would rarely be used, and a peer with a huge table must not cost so
     * much memory here.
     */
    private static final int MAX_OUTSTANDING = 64;

    private final int credits;
    /** Number of used credits at which the peer gets new ones. */
    private final int grantFrom;
    /** Areas whose segments are advertised, the latest one last. */
    private final List<ReceiveArea> current = new ArrayList<>(1);
    private ReceiveArea latest;
    /** Segments that are advertised and not filled, oldest first, a ring. */
    private ReceiveArea[] areas = new ReceiveArea[1];
    private int[] segments = new int[1];
    private int first;
    private int count;
    /** Bytes that arrived in the oldest advertised segment. */
    private int offset;
    /** Bytes that may still arrive in the advertised segments. */
    long offered;
    private boolean retractable;
    /** A retraction is due or under way, so nothing is advertised. */
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

    /** @param segment the one that the connection data advertise */
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

    /** Starts a retraction. Returns false if the peer does not know it or has nothing to give back. */
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

    /** Takes back all advertised segments, because the peer has answered RETRACTED. */
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
     * Returns whether a free segment should be advertised, or credits returned because half of them are used. The
     * connection data advertise the first segment. Others are advertised when the peer has filled a quarter of the
     * first one, so that a connection with little traffic needs no message for them.
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
     * Returns the area of the next segment to advertise, or null if there is no free segment or no place in the table.
     * <p>
     * An entry of the peer's table may be overwritten when its buffer is filled, because the peer has then finished
     * with the entry. Entries are used in turn, so this holds if fewer buffers are advertised than the table has
     * entries.
     * <p>
     * The latest area has the longest segments, which need the fewest messages. The other areas are used if the
     * advertised bytes are less than half of the latest area, because the application keeps the rest.
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
