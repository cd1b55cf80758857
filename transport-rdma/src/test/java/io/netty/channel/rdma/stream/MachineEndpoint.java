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

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An {@link Endpoint} on {@link StreamConnection}, as a channel uses it: slices of the receive area are held by the
 * application for as long as it likes and are given back in any order.
 */
final class MachineEndpoint implements Endpoint {
    private static final class Area extends ReceiveArea {
        final byte[] memory;
        final int[] held;
        final boolean[] filled;

        Area(long address, int key, int segments, int segmentLength, byte[] memory) {
            super(address, key, segments, segmentLength);
            this.memory = memory;
            held = new int[segments];
            filled = new boolean[segments];
        }
    }

    private record Slice(Area area, int segment, int offset, int length, long position) {
        void check() {
            for (int i = 0; i < length; i++) {
                byte actual = area.memory[segment * area.segmentLength() + offset + i];
                if (actual != Endpoint.value(position + i)) {
                    throw new AssertionError("byte " + (position + i) + " of the stream is wrong");
                }
            }
        }
    }

    private final SimulatedQueuePair qp;
    private final SimulatedQueuePair.ArraySgl sgl;
    private final int sglKey;
    private final StreamConnection connection;
    private final boolean disconnects;
    private final long toSend;
    private final long toReceive;
    private final List<Slice> slices = new ArrayList<>();
    private final List<Area> replaced = new ArrayList<>();
    private final List<Area> areas = new ArrayList<>();
    private long sent;
    private long received;
    private boolean end;
    private boolean ending;

    /**
     * @param disconnects whether it ends with DISCONNECT, once the peer has ended, rather than with SHUTDOWN
     */
    MachineEndpoint(StreamConfig config, int segments, int segmentLength, long toSend, long toReceive,
                    boolean disconnects) {
        this.toSend = toSend;
        this.toReceive = toReceive;
        this.disconnects = disconnects;
        qp = new SimulatedQueuePair(config.sendQueueDepth(), config.receiveQueueDepth());
        sgl = new SimulatedQueuePair.ArraySgl(config.targetSglEntries(), ByteOrder.nativeOrder());
        sglKey = qp.register(sgl.memory);
        areas.add(newArea(segments, segmentLength));
        connection = new StreamConnection(config, areas.get(0), sgl);
    }

    private Area newArea(int segments, int segmentLength) {
        byte[] memory = new byte[segments * segmentLength];
        int key = qp.register(memory);
        return new Area(qp.address(key), key, segments, segmentLength, memory);
    }

    StreamConnection connection() {
        return connection;
    }

    @Override
    public SimulatedQueuePair queuePair() {
        return qp;
    }

    @Override
    public byte[] connectionData() {
        ByteBuffer out = ByteBuffer.allocate(ConnectionData.SIZE);
        connection.localData(qp.address(sglKey), sglKey).write(out);
        return out.array();
    }

    @Override
    public void establish(byte[] peerData) throws StreamProtocolException {
        connection.establish(ConnectionData.read(ByteBuffer.wrap(peerData)));
    }

    @Override
    public boolean produce(int limit) throws StreamProtocolException {
        boolean did = false;
        int writable;
        int left = limit;
        while (left > 0 && sent < toSend && (writable = connection.writable()) > 0) {
            int n = (int) Math.min(Math.min(left, writable), toSend - sent);
            StreamWorkRequest request = connection.write(n);
            byte[] bytes = new byte[n];
            for (int i = 0; i < n; i++) {
                bytes[i] = Endpoint.value(sent + i);
            }
            sent += n;
            left -= n;
            // A flush asks for a completion at its end.
            boolean last = left == 0 || sent == toSend;
            if (last) {
                connection.sendQueue().signal();
            }
            post(request, bytes, last);
            did = true;
        }
        if (sent == toSend && !ending && (!disconnects || end)) {
            ending = true;
            if (disconnects) {
                connection.disconnect();
            } else {
                connection.shutdownOutput();
            }
            did = true;
        }
        return did;
    }

    private void post(StreamWorkRequest request, byte[] bytes, boolean last) {
        assertThat(bytes.length).isEqualTo(request.length());
        boolean signalled = request.signalled() || last;
        if (request.kind() == StreamWorkRequest.Kind.KEEP_ALIVE) {
            qp.postWithoutImmediate(request.sequence(), signalled);
        } else {
            qp.post(request.sequence(), request.immediate(), request.remoteAddress(), request.remoteKey(), bytes,
                    signalled);
        }
    }

    @Override
    public boolean poll(int limit) throws StreamProtocolException {
        int n = 0;
        SimulatedQueuePair.Completion completion;
        while (n < limit && (completion = qp.poll()) != null) {
            n++;
            if (!completion.receive()) {
                connection.sendQueue().completed(completion.id());
                continue;
            }
            switch (connection.receive(completion.immediate(), completion.bytes())) {
            case DATA:
                arrived(connection.arrival());
                break;
            case SHUTDOWN:
            case DISCONNECT:
                end = true;
                break;
            case RETRACTED:
                assertThat(connection.offeredBytes()).isZero();
                retracted(connection.arrival());
                break;
            default:
                break;
            }
        }
        return n > 0;
    }

    private void arrived(Arrival arrival) {
        assertThat(end).isFalse();
        Area area = (Area) arrival.area();
        Slice slice = new Slice(area, arrival.segment(), arrival.offset(), arrival.length(), received);
        slice.check();
        received += slice.length;
        slices.add(slice);
        area.held[slice.segment]++;
        area.filled[slice.segment] |= arrival.filled();
    }

    private void retracted(Arrival arrival) {
        Area area = (Area) arrival.area();
        if (area == null) {
            return;
        }
        if (area.held[arrival.segment()] == 0) {
            area.release(arrival.segment());
        } else {
            area.filled[arrival.segment()] = true;
        }
    }

    @Override
    public boolean consume(Random random, boolean all) {
        boolean did = false;
        for (int i = all ? slices.size() : random.nextInt(4); i > 0 && !slices.isEmpty(); i--) {
            // Whoever held it as the last one: the bytes must be what they were when they came.
            Slice slice = slices.remove(random.nextInt(slices.size()));
            slice.check();
            if (--slice.area.held[slice.segment] == 0 && slice.area.filled[slice.segment]) {
                slice.area.filled[slice.segment] = false;
                slice.area.release(slice.segment);
            }
            did = true;
        }
        replaced.removeIf(old -> {
            if (!old.isIdle()) {
                return false;
            }
            // From here on, a write into it fails the test.
            qp.deregister(old.key());
            return true;
        });
        return did;
    }

    @Override
    public boolean control() {
        boolean may = connection.mayHaveControl();
        int receives = connection.receivesToPost();
        // The peer may have a message that waits for one of them.
        boolean did = receives > 0;
        for (; receives > 0; receives--) {
            qp.postReceive();
        }
        StreamWorkRequest request;
        while ((request = connection.nextControl()) != null) {
            if (Immediate.type(request.immediate()) == Immediate.CREDIT) {
                assertThat(qp.missingReceives()).as("not posted again before credits are granted").isZero();
            }
            byte[] bytes = new byte[request.length()];
            if (request.kind() == StreamWorkRequest.Kind.ADVERTISE) {
                ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).putLong(request.entryHead())
                        .putLong(request.entryTail());
            }
            post(request, bytes, false);
            did = true;
        }
        assertThat(may || !did).as("nobody looks if there can be nothing").isTrue();
        return did;
    }

    @Override
    public void surprise(Random random) {
        switch (random.nextInt(4)) {
        case 0:
            connection.keepAlive();
            break;
        case 1:
            areas.add(newArea(1 + random.nextInt(5), 1 + random.nextInt(300)));
            connection.addArea(areas.get(areas.size() - 1));
            break;
        case 2:
            if (areas.size() > 1) {
                Area removed = areas.remove(random.nextInt(areas.size()));
                connection.removeArea(removed);
                replaced.add(removed);
            }
            break;
        default:
            connection.retract();
            break;
        }
    }

    @Override
    public boolean finished() {
        return sent == toSend && received == toReceive && end && ending && slices.isEmpty();
    }

    @Override
    public String toString() {
        return "machine " + connection.state() + ", sent " + sent + '/' + toSend + ", received " + received + '/' +
                toReceive + ", end " + end + ", ending " + ending + ", held " + slices.size();
    }
}
