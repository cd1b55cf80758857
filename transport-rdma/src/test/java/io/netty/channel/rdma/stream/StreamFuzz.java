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

import io.netty.channel.rdma.FuzzInput;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static io.netty.channel.rdma.FuzzInput.check;

/**
 * The stream protocol against a peer that says anything: in its connection data, its messages and its writes into our
 * target SGL, in any order with what the application does. A model beside it knows who has what.
 * <p>
 * Bytes arrive only in segments that were advertised, in order; each segment is free, advertised or held, and none is
 * two of these; nobody sends more messages than it has credits for; we write only into buffers that the peer named and
 * has not asked back, and no more than they have room for; the send queue does not overflow. What the peer does wrong
 * is a {@link StreamProtocolException}, after which the connection does nothing more.
 */
public final class StreamFuzz {
    private static final int MAX_COMMANDS = 400;
    private static final int MAX_AREAS = 3;

    private record Segment(ReceiveArea area, int number) {
    }

    /** Buffer that the peer has named, with the number of written bytes. */
    private static final class Buffer {
        final long address;
        final long length;
        long written;

        Buffer(long address, long length) {
            this.address = address;
            this.length = length;
        }
    }

    private final FuzzInput input;
    private final StreamConfig config;
    private final SimulatedQueuePair.ArraySgl sgl;
    private final List<ReceiveArea> areas = new ArrayList<>();
    private final List<ReceiveArea> removed = new ArrayList<>();
    private final StreamConnection connection;
    private final ArrayDeque<Segment> advertised = new ArrayDeque<>();
    private final List<Segment> held = new ArrayList<>();
    /** By key: each has its own, so that it is known which one a write is for. */
    private final Map<Integer, Buffer> buffers = new HashMap<>();
    /** Where was written last. */
    private Buffer current;
    private ConnectionData peer;
    private int entry = 1;
    private int nextKey = 100;
    private int offset;
    private long received;
    private long mayReceive;
    private long sent;
    private long maySend;
    private long posted;
    private long completed;
    private boolean asked;
    private boolean peerEnded;
    private boolean ended;

    private StreamFuzz(FuzzInput input) {
        this.input = input;
        int depth = 4 + input.below(12);
        config = new StreamConfig(1 + input.below(12), depth, 2, 2 + input.below(5), 1 + input.below(depth));
        sgl = new SimulatedQueuePair.ArraySgl(config.targetSglEntries(), ByteOrder.nativeOrder());
        ReceiveArea first = newArea();
        areas.add(first);
        connection = new StreamConnection(config, first, sgl);
        mayReceive = config.credits();
    }

    public static void fuzzerTestOneInput(byte[] data) {
        StreamFuzz fuzz = new StreamFuzz(new FuzzInput(data));
        try {
            fuzz.establish();
            for (int i = 0; i < MAX_COMMANDS && fuzz.input.hasMore(); i++) {
                fuzz.command();
                fuzz.checkSums();
            }
        } catch (StreamProtocolException e) {
            fuzz.checkFailed();
        }
    }

    private ReceiveArea newArea() {
        int number = areas.size() + removed.size();
        return new ReceiveArea(0x10000L * (number + 1), 70 + number, 1 + input.below(6), 1 + input.below(128));
    }

    private void establish() throws StreamProtocolException {
        ConnectionData local = connection.localData(0x7000, 8);
        ReceiveArea first = areas.get(0);
        check(local.bufferAddress() == first.segmentAddress(0), "address of the first buffer");
        check(local.bufferLength() == first.segmentLength(), "length of the first buffer");
        advertised.add(new Segment(first, 0));
        byte[] bytes = new byte[ConnectionData.SIZE];
        new ConnectionData(input.bit(), input.bit(), 1 + input.below(16), 0x5000, 9, 2 + input.below(6), 0x8000, 50,
                1 + input.below(200)).write(ByteBuffer.wrap(bytes));
        input.patch(bytes);
        try {
            peer = ConnectionData.read(ByteBuffer.wrap(bytes));
        } catch (StreamProtocolException e) {
            // Then there is no connection.
            peer = new ConnectionData(false, false, 4, 0x5000, 9, 4, 0x8000, 50, 100);
        }
        connection.establish(peer);
        buffers.put(peer.bufferKey(), new Buffer(peer.bufferAddress(), peer.bufferLength()));
        maySend = peer.credits();
    }

    private void command() throws StreamProtocolException {
        int code = input.u8();
        switch (code & 15) {
        case 0: case 1:
            advertise(code >> 4);
            break;
        case 2:
            receive(Immediate.of(Immediate.CREDIT, creditOf(code >> 4) & Immediate.MAX_VALUE), 16);
            break;
        case 3: case 4: case 5:
            data(code >> 4);
            break;
        case 6:
            receive(input.i32(), input.bit() ? input.i32() : input.u8());
            break;
        case 7: case 8:
            write(code >> 4);
            break;
        case 9: case 10:
            controls(1 + (code >> 4));
            break;
        case 11:
            complete(1 + (code >> 4));
            break;
        case 12:
            release(code >> 4);
            break;
        case 13:
            retract(code >> 4);
            break;
        case 14:
            end(code >> 4);
            break;
        default:
            change(code >> 4);
        }
    }

    // ---- the peer

    private void advertise(int how) {
        long address = (how & 1) == 0 ? 0x100000L + 0x1000L * input.u8() : input.i64();
        int length = (how & 2) == 0 ? 1 + input.u8() : input.i32();
        nextKey += nextKey == peer.bufferKey() ? 1 : 0;
        int key = nextKey++;
        int where = (how & 8) == 0 ? entry : input.below(sgl.entries());
        sgl.set(where, address, key, length);
        entry = (entry + 1) % sgl.entries();
        buffers.put(key, new Buffer(address, length & 0xFFFFFFFFL));
    }

    private int creditOf(int how) {
        return how < 12 ? (int) (sent + peer.credits() & 0xFFFF) : how == 12 ? input.i32() : (int) sent + input.u8();
    }

    private void data(int how) throws StreamProtocolException {
        Segment current = advertised.peek();
        int left = current == null ? 0 : current.area.segmentLength() - offset;
        int bytes = how < 12 ? Math.min(left, 1 + input.u8()) : how == 12 ? left : input.u16();
        receive(Immediate.of(Immediate.DATA, bytes), how == 15 ? input.i32() : bytes);
    }

    private void receive(int immediate, int bytes) throws StreamProtocolException {
        boolean wasEnded = peerEnded;
        StreamEvent event = connection.receive(immediate, bytes);
        int value = Immediate.value(immediate);
        switch (event) {
        case DATA:
            check(!wasEnded, "data after the end");
            check(value == bytes && bytes > 0, "a message of another length");
            check(received++ < mayReceive, "a message without a credit");
            arrived(bytes);
            break;
        case CREDIT:
            long granted = value - sent & 0xFFFF;
            check(granted >= maySend - sent && granted <= peer.credits(), "credits");
            maySend = sent + granted;
            break;
        case RETRACTED:
            check(asked, "gave back what it was not asked for");
            asked = false;
            givenBack();
            break;
        case SHUTDOWN: case DISCONNECT:
            peerEnded = true;
            ended |= event == StreamEvent.DISCONNECT;
            break;
        case RETRACT:
            check(connection.writable() == 0, "writable without a buffer");
            buffers.clear();
            current = null;
            break;
        default:
        }
    }

    private void arrived(int bytes) {
        Arrival arrival = connection.arrival();
        Segment segment = advertised.peek();
        check(segment != null, "arrived nowhere");
        check(arrival.area() == segment.area && arrival.segment() == segment.number, "arrived in another segment");
        check(arrival.offset() == offset && arrival.length() == bytes, "arrived elsewhere");
        offset += bytes;
        check(offset <= segment.area.segmentLength(), "beyond the segment");
        check(arrival.filled() == (offset == segment.area.segmentLength()), "filled");
        if (arrival.filled()) {
            held.add(advertised.remove());
            offset = 0;
        }
    }

    private void givenBack() {
        Arrival arrival = connection.arrival();
        check((arrival.area() != null) == (offset > 0), "the segment that was begun");
        if (offset > 0) {
            Segment begun = advertised.remove();
            check(arrival.area() == begun.area && arrival.segment() == begun.number && arrival.length() == 0, "begun");
            held.add(begun);
            offset = 0;
        }
        advertised.clear();
    }

    // ---- the application

    private void write(int how) throws StreamProtocolException {
        int writable = connection.writable();
        check(writable >= 0, "writable is negative");
        if (writable == 0) {
            return;
        }
        check(sent < maySend, "writable without a credit");
        check(!ended, "writable after the end");
        int bytes = (how & 1) == 0 ? writable : 1 + Math.min(input.u8(), writable - 1);
        StreamWorkRequest request = connection.write(bytes);
        sent++;
        check(request.kind() == StreamWorkRequest.Kind.DATA && request.length() == bytes, "request");
        check(request.immediate() == Immediate.of(Immediate.DATA, bytes), "immediate");
        Buffer target = buffers.get(request.remoteKey());
        check(target != null, "written where the peer did not offer memory");
        check(target == current || current == null || current.written == current.length, "the last one is not full");
        check(request.remoteAddress() == target.address + target.written, "written with a gap, or again");
        check(bytes <= target.length - target.written, "written beyond the end");
        target.written += bytes;
        current = target;
        post(request);
    }

    private void controls(int most) {
        StreamWorkRequest request;
        while (most-- > 0 && (request = connection.nextControl()) != null) {
            switch (request.kind()) {
            case ADVERTISE:
                check(!asked, "advertised while it is given back");
                check(request.remoteKey() == peer.sglKey() && request.length() == 16, "not into its table");
                long place = request.remoteAddress() - peer.sglAddress();
                check(place >= 0 && place % 16 == 0 && place / 16 < peer.sglEntries(), "beside its table");
                advertised(request);
                grant(request);
                break;
            case CREDIT:
                grant(request);
                break;
            case RETRACT:
                check(peer.retracts() && !asked, "asked in vain");
                asked = true;
                break;
            case DISCONNECT:
                ended = true;
                break;
            default:
            }
            post(request);
        }
    }

    private void grant(StreamWorkRequest request) {
        long granted = Immediate.value(request.immediate()) - received & 0xFFFF;
        check(granted <= config.credits() && received + granted >= mayReceive, "credits go back");
        mayReceive = received + granted;
    }

    private void advertised(StreamWorkRequest request) {
        boolean swapped = peer.bigEndian() != ConnectionData.HOST_BIG_ENDIAN;
        ByteBuffer bytes = ByteBuffer.allocate(16).order(ByteOrder.nativeOrder());
        bytes.putLong(request.entryHead()).putLong(request.entryTail()).flip();
        bytes.order(peer.bigEndian() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        long address = bytes.getLong();
        int key = bytes.getInt();
        int length = bytes.getInt();
        for (ReceiveArea area : all()) {
            for (int i = 0; i < segments(area); i++) {
                if (area.key() == key && area.segmentAddress(i) == address) {
                    check(length == area.segmentLength(), "length of the segment, swapped: " + swapped);
                    Segment segment = new Segment(area, i);
                    check(!advertised.contains(segment) && !held.contains(segment), "advertised twice");
                    advertised.add(segment);
                    return;
                }
            }
        }
        check(false, "advertised what is no segment, swapped: " + swapped);
    }

    private void post(StreamWorkRequest request) {
        check(request.sequence() == posted, "sequence");
        posted++;
        check(posted - completed <= config.sendQueueDepth(), "the send queue overflows");
    }

    private void complete(int count) {
        for (; count > 0 && completed < posted; count--) {
            connection.sendQueue().completed(completed++);
        }
    }

    private void release(int which) {
        if (!held.isEmpty()) {
            Segment segment = held.remove(which % held.size());
            segment.area.release(segment.number);
        }
    }

    private void retract(int how) throws StreamProtocolException {
        switch (how & 3) {
        case 0:
            connection.retract();
            break;
        case 1:
            receive(Immediate.of(Immediate.CONTROL, Immediate.RETRACT), 0);
            break;
        default:
            if (asked || how == 15) {
                receive(Immediate.of(Immediate.CONTROL, Immediate.RETRACTED), 0);
            }
        }
    }

    private void end(int how) throws StreamProtocolException {
        switch (how) {
        case 0:
            connection.shutdownOutput();
            break;
        case 1:
            connection.disconnect();
            break;
        case 2:
            receive(Immediate.of(Immediate.CONTROL, Immediate.SHUTDOWN), 0);
            break;
        case 3:
            receive(Immediate.of(Immediate.CONTROL, Immediate.DISCONNECT), 0);
            break;
        case 4:
            receive(Immediate.of(Immediate.CONTROL, Immediate.KEEP_ALIVE), 0);
            break;
        default:
            connection.keepAlive();
        }
    }

    /** Receive memory grows and shrinks. */
    private void change(int how) {
        if ((how & 1) == 0 && areas.size() + removed.size() < MAX_AREAS) {
            ReceiveArea area = newArea();
            areas.add(area);
            connection.addArea(area);
        } else if ((how & 1) != 0 && areas.size() > 1) {
            ReceiveArea area = areas.remove((how >> 1) % areas.size());
            removed.add(area);
            connection.removeArea(area);
        }
    }

    // ---- the model

    private List<ReceiveArea> all() {
        List<ReceiveArea> all = new ArrayList<>(areas);
        all.addAll(removed);
        return all;
    }

    private void checkSums() {
        long offered = -offset;
        for (ReceiveArea area : all()) {
            long inUse = advertised.stream().filter(segment -> segment.area == area).count();
            long atUser = held.stream().filter(segment -> segment.area == area).count();
            check(area.freeSegments() + inUse + atUser == segments(area), "segments are lost, or two times there");
            check(area.isIdle() == (inUse + atUser == 0), "idle");
            offered += inUse * area.segmentLength();
        }
        check(connection.offeredBytes() == offered, "offered bytes");
        check(connection.state() != StreamState.FAILED, "failed without a reason");
    }

    private void checkFailed() {
        check(connection.state() == StreamState.FAILED && connection.isDrained(), "goes on");
        check(connection.nextControl() == null, "goes on to speak");
        try {
            check(connection.writable() == 0, "goes on to write");
            connection.receive(0, 0);
        } catch (StreamProtocolException e) {
            return;
        }
        check(false, "goes on to receive");
    }

    private static long segments(ReceiveArea area) {
        return area.length() / area.segmentLength();
    }
}
