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
import java.util.ArrayDeque;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An {@link Endpoint} that follows the rules of librdmacm, to prove that those are understood: two target SGL entries,
 * a receive buffer offered in halves, a grant when a half is free or half of the credits are used, 4 control slots,
 * every work request signalled, a credit back only when the application has read the message, trust in the peer.
 */
final class RsocketEndpoint implements Endpoint {
    private static final int SGL_ENTRIES = 2;
    private static final int CONTROL_SLOTS = 4;
    private static final int FIRST_TRANSFER = 2048;
    private static final int MAX_TRANSFER = 65536;

    private final ByteOrder order;
    private final int sendQueueSize;
    private final int receiveQueueSize;
    private final byte[] receiveBuffer;
    private final int half;
    private final SimulatedQueuePair qp;
    private final SimulatedQueuePair.ArraySgl sgl;
    private final int sglKey;
    private final int receiveKey;
    private final long toSend;
    private final long toReceive;
    private final boolean disconnects;

    private ByteOrder peerOrder;
    private long peerSglAddress;
    private int peerSglKey;
    private int peerSglEntries;
    private int peerEntry = 1;
    private int entry;
    private short sendSequence;
    private short sendLimit;
    private short readSequence;
    private short grantAt;
    private int sendSlots;
    private int controlSlots = CONTROL_SLOTS;
    private final ArrayDeque<Integer> messages = new ArrayDeque<>();
    private int headConsumed;
    private int bytesAvailable;
    private int freeOffset;
    private int readOffset;
    private long id;
    /** For each work request, whether it took a control slot. */
    private final ArrayDeque<Boolean> slots = new ArrayDeque<>();
    private boolean readable = true;
    private boolean writable = true;
    private boolean connected = true;
    private boolean ending;
    private long sent;
    private long received;

    RsocketEndpoint(ByteOrder order, int queueSize, int bufferSize, long toSend, long toReceive,
                    boolean disconnects) {
        this.order = order;
        this.toSend = toSend;
        this.toReceive = toReceive;
        this.disconnects = disconnects;
        sendQueueSize = queueSize;
        receiveQueueSize = queueSize;
        receiveBuffer = new byte[bufferSize];
        half = bufferSize / 2;
        qp = new SimulatedQueuePair(queueSize, queueSize);
        sgl = new SimulatedQueuePair.ArraySgl(SGL_ENTRIES, order);
        sglKey = qp.register(sgl.memory);
        receiveKey = qp.register(receiveBuffer);
        freeOffset = half;
        bytesAvailable = half;
        sendSlots = sendQueueSize - CONTROL_SLOTS;
        grantAt = (short) (receiveQueueSize / 2);
    }

    @Override
    public SimulatedQueuePair queuePair() {
        return qp;
    }

    @Override
    public byte[] connectionData() {
        // Flag 2 is "iomap", which librdmacm always sets, with no slots by default.
        return ByteBuffer.allocate(56).put((byte) 1).put((byte) (order == ByteOrder.BIG_ENDIAN ? 3 : 2))
                .putShort((short) receiveQueueSize).putInt(0)
                .putLong(qp.address(sglKey)).putInt(sglKey).putInt(SGL_ENTRIES)
                .putLong(qp.address(receiveKey)).putInt(receiveKey).putInt(half).array();
    }

    @Override
    public void establish(byte[] peerData) {
        ByteBuffer in = ByteBuffer.wrap(peerData);
        assertThat(in.get()).isEqualTo((byte) 1);
        peerOrder = (in.get() & 1) != 0 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        sendLimit = in.getShort();
        assertThat(in.getInt() & 0xFF).as("iomap slots").isZero();
        peerSglAddress = in.getLong();
        peerSglKey = in.getInt();
        peerSglEntries = in.getInt();
        sgl.set(0, in.getLong(), in.getInt(), in.getInt());
    }

    @Override
    public boolean produce(int limit) {
        boolean did = false;
        int transfer = FIRST_TRANSFER;
        int left = limit;
        while (left > 0 && sent < toSend && writable && connected && sendSlots > 0 && sendSequence != sendLimit &&
                sgl.length(entry) != 0) {
            int n = (int) Math.min(Math.min(transfer, left), Math.min(sgl.length(entry), toSend - sent));
            transfer = Math.min(transfer * 2, MAX_TRANSFER);
            byte[] bytes = new byte[n];
            for (int i = 0; i < n; i++) {
                bytes[i] = Endpoint.value(sent + i);
            }
            sendSequence++;
            sendSlots--;
            long address = sgl.address(entry);
            int key = sgl.key(entry);
            sgl.set(entry, address + n, key, sgl.length(entry) - n);
            if (sgl.length(entry) == 0) {
                entry = (entry + 1) % SGL_ENTRIES;
            }
            post(false, Immediate.of(Immediate.DATA, n), address, key, bytes);
            sent += n;
            left -= n;
            did = true;
        }
        if (sent == toSend && !ending && controlSlots > 0 && (!disconnects || !readable)) {
            ending = true;
            writable = false;
            if (connected) {
                controlSlots--;
                int value = readable && !disconnects ? Immediate.SHUTDOWN : Immediate.DISCONNECT;
                post(true, Immediate.of(Immediate.CONTROL, value), 0, 0, new byte[0]);
            }
            did = true;
        }
        return did;
    }

    private void post(boolean control, int immediate, long address, int key, byte[] bytes) {
        slots.add(control);
        qp.post(id++, immediate, address, key, bytes, true);
    }

    @Override
    public boolean poll(int limit) {
        int n = 0;
        SimulatedQueuePair.Completion completion;
        while (n < limit && (completion = qp.poll()) != null) {
            n++;
            if (!completion.receive()) {
                if (slots.remove()) {
                    controlSlots++;
                    if (completion.immediate() == Immediate.of(Immediate.CONTROL, Immediate.DISCONNECT)) {
                        connected = false;
                    }
                } else {
                    sendSlots++;
                }
                continue;
            }
            qp.postReceive();
            int value = Immediate.value(completion.immediate());
            switch (Immediate.type(completion.immediate())) {
            case Immediate.CREDIT:
                sendLimit = (short) value;
                break;
            case Immediate.DATA:
                messages.add(value);
                assertThat(messages.size()).as("unread messages").isLessThanOrEqualTo(receiveQueueSize);
                break;
            default:
                if (value == Immediate.SHUTDOWN && writable) {
                    readable = false;
                } else if (value == Immediate.SHUTDOWN || value == Immediate.DISCONNECT) {
                    readable = false;
                    connected = false;
                }
                break;
            }
        }
        return n > 0;
    }

    @Override
    public boolean consume(Random random, boolean all) {
        boolean did = false;
        int left = all ? Integer.MAX_VALUE : random.nextInt(half + 1);
        while (left > 0 && !messages.isEmpty()) {
            int n = Math.min(left, messages.peek() - headConsumed);
            for (int i = 0; i < n; i++) {
                if (receiveBuffer[(readOffset + i) % receiveBuffer.length] != Endpoint.value(received + i)) {
                    throw new AssertionError("byte " + (received + i) + " of the stream is wrong");
                }
            }
            readOffset = (readOffset + n) % receiveBuffer.length;
            received += n;
            bytesAvailable += n;
            left -= n;
            headConsumed += n;
            if (headConsumed == messages.peek()) {
                messages.remove();
                headConsumed = 0;
                readSequence++;
            }
            did = true;
        }
        return did;
    }

    @Override
    public boolean control() {
        boolean did = false;
        while (connected && controlSlots > 0 && (bytesAvailable >= half || (short) (readSequence - grantAt) >= 0)) {
            controlSlots--;
            grantAt = (short) (readSequence + receiveQueueSize / 2);
            // Not cut to 16 bits, as in librdmacm.
            int immediate = Immediate.of(Immediate.CREDIT, (readSequence & 0xFFFF) + receiveQueueSize);
            if (bytesAvailable >= half) {
                byte[] bytes = ByteBuffer.allocate(TargetSgl.ENTRY_SIZE).order(peerOrder)
                        .putLong(qp.address(receiveKey) + freeOffset).putInt(receiveKey).putInt(half).array();
                post(true, immediate, peerSglAddress + peerEntry * TargetSgl.ENTRY_SIZE, peerSglKey, bytes);
                bytesAvailable -= half;
                freeOffset = (freeOffset + half) % receiveBuffer.length;
                peerEntry = (peerEntry + 1) % peerSglEntries;
            } else {
                post(true, immediate, 0, 0, new byte[0]);
            }
            did = true;
        }
        return did;
    }

    @Override
    public boolean finished() {
        return sent == toSend && received == toReceive && !readable && ending;
    }

    @Override
    public String toString() {
        return "rsocket sent " + sent + '/' + toSend + ", received " + received + '/' + toReceive + ", readable " +
                readable + ", connected " + connected + ", ending " + ending;
    }
}
