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

import io.netty.channel.rdma.HalfTheTries;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.statistics.Statistics;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A peer that sends whatever it likes gets a {@link StreamProtocolException} or is obeyed within what the protocol
 * allows; nothing else is thrown, and nothing is written or read outside of what was agreed.
 */
@Tag("platforms")
@Tag("quick")
@AddLifecycleHook(HalfTheTries.class)
class HostilePeerTest {
    private static final int SEGMENTS = 4;
    private static final int SEGMENT_LENGTH = 64;
    private static final int CREDITS = 8;

    private record Buffer(long address, long length) {
    }

    @Property(tries = 20_000)
    void anyConnectionData(@ForAll @Size(max = 64) byte[] bytes, @ForAll boolean versionRight,
                           @ForAll boolean entriesRight) {
        if (versionRight && bytes.length > 0) {
            bytes[0] = ConnectionData.VERSION;
        }
        if (entriesRight && bytes.length >= ConnectionData.SIZE) {
            // The upper half of the number of entries, which is at most 65535.
            bytes[20] = 0;
            bytes[21] = 0;
        }
        boolean taken = false;
        try {
            ConnectionData data = ConnectionData.read(ByteBuffer.wrap(bytes));
            assertThat(data.credits()).isBetween(1, 65535);
            assertThat(data.sglEntries()).isBetween(2, 65535);
            assertThat(data.bufferLength()).isBetween(1L, 0xFFFFFFFFL);
            newConnection(new ReceiveArea(0, 0, SEGMENTS, SEGMENT_LENGTH), newSgl()).establish(data);
            taken = true;
        } catch (StreamProtocolException e) {
            assertThat(e.getMessage()).contains("peer");
        }
        Statistics.label("taken").collect(taken);
        Statistics.label("taken").coverage(each -> each.check(true).count(count -> count > 0));
    }

    @Property(tries = 5000)
    void anyMessages(@ForAll long seed, @ForAll @IntRange(min = 1, max = 12) int credits,
                     @ForAll @IntRange(min = 2, max = 6) int entries, @ForAll @IntRange(max = 3) int rudeness)
            throws StreamProtocolException {
        Play play = new Play(new Random(seed), credits, entries, rudeness);
        try {
            for (int i = 0; i < 400; i++) {
                play.step();
            }
        } catch (StreamProtocolException e) {
            assertThat(rudeness).as(e.getMessage()).isPositive();
            play.checkFailed();
        }
    }

    /** A connection and a peer that breaks the protocol in {@code rudeness} of a hundred messages. */
    private static final class Play {
        private final Random random;
        private final int credits;
        private final int entries;
        private final int rudeness;
        private final SimulatedQueuePair.ArraySgl sgl = newSgl();
        private final ReceiveArea area = new ReceiveArea(0x10000, 77, SEGMENTS, SEGMENT_LENGTH);
        private final StreamConnection connection = newConnection(area, sgl);
        /** Every buffer that the peer names has its own key, so that each of our writes can be traced to one. */
        private final Map<Integer, Buffer> buffers = new HashMap<>();
        private final List<Integer> filled = new ArrayList<>();
        private int entry = 1;
        private int sent;
        private int offered = SEGMENT_LENGTH;
        private int granted = CREDITS;
        private boolean asked;
        private int nextKey = 1;

        Play(Random random, int credits, int entries, int rudeness) {
            this.random = random;
            this.credits = credits;
            this.entries = entries;
            this.rudeness = rudeness;
            buffers.put(0, new Buffer(0x8000, 50));
            connection.establish(new ConnectionData(false, true, credits, 0x7000, 8, entries, 0x8000, 0, 50));
        }

        private boolean rude() {
            return random.nextInt(100) < rudeness;
        }

        void step() throws StreamProtocolException {
            switch (random.nextInt(7)) {
            case 0:
                long address = rude() ? random.nextLong() : random.nextInt(1 << 20);
                int length = rude() ? random.nextInt() : 1 + random.nextInt(100);
                int key = nextKey++;
                buffers.put(key, new Buffer(address, length & 0xFFFFFFFFL));
                sgl.set(rude() ? random.nextInt(sgl.entries()) : entry, address, key, length);
                entry = (entry + 1) % sgl.entries();
                break;
            case 1:
                int credit = rude() ? random.nextInt() : sent + credits;
                receive(Immediate.of(Immediate.CREDIT, credit & Immediate.MAX_VALUE), 16);
                break;
            case 2:
                if (rude()) {
                    receive(Immediate.of(Immediate.DATA, random.nextInt(1000)), random.nextInt(1000));
                } else if (offered > 0 && granted > 0) {
                    int left = offered % SEGMENT_LENGTH == 0 ? SEGMENT_LENGTH : offered % SEGMENT_LENGTH;
                    int bytes = 1 + random.nextInt(left);
                    receive(Immediate.of(Immediate.DATA, bytes), bytes);
                }
                break;
            case 3:
                if (rude()) {
                    receive(random.nextInt(), random.nextInt());
                }
                break;
            case 4:
                int writable = connection.writable();
                if (writable > 0) {
                    StreamWorkRequest request = connection.write(1 + random.nextInt(writable));
                    sent++;
                    checkWrite(request, buffers.get(request.remoteKey()));
                    connection.sendQueue().completed(request.sequence());
                }
                break;
            case 5:
                retraction();
                break;
            default:
                control();
                break;
            }
        }

        /** Either side asks for its buffers back, now and then at the wrong moment. */
        private void retraction() throws StreamProtocolException {
            if (random.nextInt(8) == 0) {
                receive(Immediate.of(Immediate.CONTROL, Immediate.RETRACT), 0);
                assertThat(connection.writable()).isZero();
                // From now on nothing is written there, whatever the order of their entries was.
                buffers.clear();
            } else if (random.nextInt(8) == 0) {
                connection.retract();
            } else if (asked || rude()) {
                receive(Immediate.of(Immediate.CONTROL, Immediate.RETRACTED), 0);
                assertThat(asked).isTrue();
                asked = false;
                assertThat(connection.offeredBytes()).isZero();
                offered = 0;
                if (connection.arrival().area() != null) {
                    assertThat(connection.arrival().length()).isZero();
                    filled.add(connection.arrival().segment());
                }
                assertThat(area.freeSegments() + filled.size()).isEqualTo(SEGMENTS);
            }
        }

        private void control() {
            StreamWorkRequest request = connection.nextControl();
            if (request != null) {
                if (request.kind() == StreamWorkRequest.Kind.ADVERTISE ||
                        request.kind() == StreamWorkRequest.Kind.CREDIT) {
                    granted = CREDITS;
                }
                asked |= request.kind() == StreamWorkRequest.Kind.RETRACT;
                if (request.kind() == StreamWorkRequest.Kind.ADVERTISE) {
                    assertThat(asked).isFalse();
                    offered += SEGMENT_LENGTH;
                    assertThat(request.remoteKey()).isEqualTo(8);
                    assertThat(request.remoteAddress()).isBetween(0x7000L, 0x7000L + (entries - 1) * 16);
                }
                connection.sendQueue().completed(request.sequence());
            }
            if (!filled.isEmpty()) {
                area.release(filled.remove(random.nextInt(filled.size())));
            }
        }

        private void receive(int immediate, int bytes) throws StreamProtocolException {
            if (connection.receive(immediate, bytes) != StreamEvent.DATA) {
                return;
            }
            Arrival arrival = connection.arrival();
            assertThat(arrival.segment()).isBetween(0, SEGMENTS - 1);
            assertThat(arrival.length()).isBetween(1, offered);
            assertThat(arrival.offset()).isBetween(0, SEGMENT_LENGTH - arrival.length());
            assertThat(arrival.filled()).isEqualTo(arrival.offset() + arrival.length() == SEGMENT_LENGTH);
            assertThat(filled).doesNotContain(arrival.segment());
            if (arrival.filled()) {
                filled.add(arrival.segment());
            }
            offered -= arrival.length();
            assertThat(granted--).isPositive();
        }

        void checkFailed() throws StreamProtocolException {
            assertThat(connection.state()).isEqualTo(StreamState.FAILED);
            assertThat(connection.writable()).isZero();
            assertThat(connection.nextControl()).isNull();
            assertThatThrownBy(() -> connection.receive(0, 0)).isInstanceOf(StreamProtocolException.class);
        }
    }

    private static void checkWrite(StreamWorkRequest request, Buffer buffer) {
        assertThat(buffer).isNotNull();
        long offset = request.remoteAddress() - buffer.address;
        assertThat(offset).isGreaterThanOrEqualTo(0);
        assertThat(offset + request.length()).isLessThanOrEqualTo(buffer.length);
    }

    private static SimulatedQueuePair.ArraySgl newSgl() {
        return new SimulatedQueuePair.ArraySgl(4, ByteOrder.nativeOrder());
    }

    private static StreamConnection newConnection(ReceiveArea area, TargetSgl sgl) {
        return new StreamConnection(new StreamConfig(CREDITS, 16, 2, sgl.entries(), 16), area, sgl);
    }
}
