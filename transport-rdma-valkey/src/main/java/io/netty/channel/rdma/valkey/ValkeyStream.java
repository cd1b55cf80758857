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
package io.netty.channel.rdma.valkey;

import io.netty.channel.rdma.stream.Arrival;
import io.netty.channel.rdma.stream.ConnectionData;
import io.netty.channel.rdma.stream.ReceiveArea;
import io.netty.channel.rdma.stream.SendQueue;
import io.netty.channel.rdma.stream.StreamConfig;
import io.netty.channel.rdma.stream.StreamEvent;
import io.netty.channel.rdma.stream.StreamMachine;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.stream.StreamState;
import io.netty.channel.rdma.stream.StreamWorkRequest;
import io.netty.channel.rdma.stream.StreamWorkRequest.Kind;

import java.nio.ByteBuffer;

/**
 * One connection of Valkey's protocol, for a client or a server: see the package description. Nothing is allocated
 * after the constructor.
 */
final class ValkeyStream implements StreamMachine {
    /**
     * Messages that a client sends before the server is known to have taken them. A message that finds no posted
     * receive ends the connection if the server has not asked for retries, and Valkey's server does not. It posts 1024
     * receives, the number that the protocol recommends.
     */
    static final int MAX_UNCONFIRMED = 512;
    /** Unconfirmed messages after which a client asks whether the server has taken them. */
    static final int ASK_AFTER = 128;
    /** The most questions that wait for answers. Valkey's clients ask once, this one has one at a time. */
    static final int MAX_QUESTIONS = 16;
    private static final int NONE = -1;

    private final boolean server;
    private final int receivesToKeep;
    private final SendQueue queue;
    private final ReceiveArea area;
    private final StreamWorkRequest request = new StreamWorkRequest();
    private final Arrival arrival = new Arrival();
    private final ValkeyMessage received = new ValkeyMessage();
    private final ValkeyMessage sent = new ValkeyMessage();

    private boolean established;
    private StreamProtocolException failure;
    private boolean outputOpen = true;
    /** True if the connection is to end after all written bytes. */
    private boolean ending;
    /** True if neither side has ended the connection. */
    private boolean connected = true;
    private long endSequence = NONE;
    private boolean keepAlive;

    // Memory of the peer to which this end writes.
    private long address;
    private int key;
    private long remaining;
    private int granted;

    // Messages that use receives of the peer, by their numbers.
    private long messages;
    private long confirmed;
    /** The number after the message that has filled the peer's memory. */
    private long filledAt;
    /** The number after this end's question, or {@link #NONE}. */
    private long askedAt = NONE;
    private boolean askedEver;
    private boolean featuresKnown;
    private boolean wantsSetFeatures;

    /** The selectors of questions that wait for an answer. */
    private final int[] questions = new int[MAX_QUESTIONS];
    private int questionCount;

    // Memory that is announced to the peer.
    private int segment = NONE;
    private int offset;
    private boolean offered;
    private int receivesUsed;

    /** @param area where bytes land; its segments are announced one at a time. */
    ValkeyStream(ValkeyProtocol role, StreamConfig config, ReceiveArea area) {
        server = role == ValkeyProtocol.SERVER;
        this.area = area;
        queue = new SendQueue(config);
        receivesToKeep = Math.max(1, config.receiveQueueDepth() >> 2);
    }

    /** {@inheritDoc} The protocol has none. */
    @Override
    public byte[] privateData(long sglAddress, int sglKey) {
        return new byte[0];
    }

    /** Begins. Ignores the private data of the peer, because connection managers pad it. */
    @Override
    public void establish(ByteBuffer data) {
        established = true;
    }

    @Override
    public StreamState state() {
        if (failure != null) {
            return StreamState.FAILED;
        }
        if (!established) {
            return StreamState.NEW;
        }
        if (!connected) {
            return StreamState.DISCONNECTED;
        }
        return outputOpen ? StreamState.OPEN : ending ? StreamState.CLOSING : StreamState.OUTPUT_SHUT;
    }

    // ---- output

    private boolean isSendable() {
        return outputOpen && connected && established && failure == null && queue.hasDataSlot();
    }

    private boolean hasCredit() {
        return server || messages - confirmed < MAX_UNCONFIRMED;
    }

    @Override
    public int writable() {
        granted = isSendable() && hasCredit() ? (int) Math.min(remaining, Integer.MAX_VALUE) : 0;
        return granted;
    }

    @Override
    public boolean isHeldUpByPeer() {
        return isSendable() && (remaining == 0 || !hasCredit());
    }

    @Override
    public StreamWorkRequest write(int bytes) {
        if (bytes < 1 || bytes > granted) {
            throw new IllegalArgumentException("bytes: " + bytes + " (expected: 1 to " + granted + ')');
        }
        granted = 0;
        request.of(Kind.DATA, bytes, address, key, bytes);
        address += bytes;
        remaining -= bytes;
        messages++;
        if (remaining == 0) {
            filledAt = messages;
        }
        // Without credit, the completion leads to the question for features, if nothing else is sent.
        queue.post(request, !hasCredit());
        return request;
    }

    @Override
    public SendQueue sendQueue() {
        return queue;
    }

    // ---- input

    @Override
    public StreamEvent receive(int immediate, int bytes) throws StreamProtocolException {
        checkReceiving();
        long announced = immediate & 0xFFFFFFFFL;
        if (announced < bytes) {
            throw fail("the peer wrote " + bytes + " bytes but announced " + announced);
        }
        long left = segment == NONE ? 0 : area.segmentLength() - offset;
        if (announced > left) {
            throw fail("the peer announced " + announced + " bytes where " + left +
                    " were left of the receive memory that it was told of");
        }
        if (announced == 0) {
            // Valkey sends no bytes if it has to wait for memory in the middle of a blocking write.
            return StreamEvent.KEEP_ALIVE;
        }
        boolean filled = announced == left;
        arrival.of(area, segment, offset, (int) announced, filled);
        offset += (int) announced;
        if (filled) {
            area.fill(segment);
            segment = NONE;
        }
        return StreamEvent.DATA;
    }

    @Override
    public StreamEvent receiveSent(ByteBuffer message, int index) throws StreamProtocolException {
        checkReceiving();
        received.read(message, index);
        switch (received.opcode()) {
        case ValkeyMessage.GET_FEATURES:
            if (server) {
                asked();
                return StreamEvent.KEEP_ALIVE;
            }
            answered();
            return StreamEvent.CREDIT;
        case ValkeyMessage.SET_FEATURES:
            setFeatures();
            return StreamEvent.KEEP_ALIVE;
        case ValkeyMessage.KEEP_ALIVE:
            return StreamEvent.KEEP_ALIVE;
        case ValkeyMessage.REGISTER_MEMORY:
            memoryRegistered();
            return StreamEvent.CREDIT;
        default:
            throw fail("the peer sent a message with the unknown number " + received.opcode() +
                    ": it does not speak Valkey's protocol for RDMA, or a version that is not known here");
        }
    }

    private void checkReceiving() throws StreamProtocolException {
        if (!established) {
            throw new IllegalStateException("not established");
        }
        if (failure != null) {
            throw failure;
        }
        receivesUsed++;
    }

    private void asked() throws StreamProtocolException {
        if (questionCount == MAX_QUESTIONS) {
            throw fail("the peer asked for features once more while " + MAX_QUESTIONS +
                    " questions waited for their answers");
        }
        questions[questionCount++] = received.select();
    }

    private void answered() throws StreamProtocolException {
        if (askedAt == NONE) {
            throw fail("the peer sent features that it was not asked for");
        }
        if (received.select() != 0) {
            throw fail("the peer sent the features of selector " + received.select() + " where 0 was asked for");
        }
        // The client can't use any feature that the server may offer.
        wantsSetFeatures |= !featuresKnown;
        featuresKnown = true;
        confirm(askedAt);
        askedAt = NONE;
    }

    private void setFeatures() throws StreamProtocolException {
        if (!server) {
            throw fail("the server sent a message of clients: it set features");
        }
        if (received.features() != 0) {
            throw fail("the peer enabled the features 0x" + Long.toHexString(received.features()) +
                    ", none of which were offered");
        }
    }

    private void memoryRegistered() throws StreamProtocolException {
        if (remaining > 0) {
            throw fail("the peer registered other memory while " + remaining +
                    " bytes were left of what it had registered");
        }
        try {
            ConnectionData.checkBuffer(received.address(), received.length());
        } catch (StreamProtocolException e) {
            failure = e;
            throw e;
        }
        address = received.address();
        key = received.key();
        remaining = received.length();
        // The peer registers memory after it has taken all messages that filled the last one.
        confirm(filledAt);
    }

    private void confirm(long until) {
        confirmed = Math.max(confirmed, until);
    }

    private StreamProtocolException fail(String message) {
        failure = new StreamProtocolException(message);
        return failure;
    }

    @Override
    public Arrival arrival() {
        return arrival;
    }

    @Override
    public long offeredBytes() {
        return segment == NONE ? 0 : area.segmentLength() - offset;
    }

    @Override
    public boolean isOfferingMore() {
        return offered;
    }

    /**
     * {@inheritDoc} Returns all before memory is announced or a question answered, because either tells the peer that
     * its messages were taken. Otherwise waits for a quarter of the queue.
     */
    @Override
    public int receivesToPost() {
        int used = receivesUsed;
        if (used == 0 || used < receivesToKeep && questionCount == 0 && !wantsMemory()) {
            return 0;
        }
        receivesUsed = 0;
        return used;
    }

    private boolean wantsMemory() {
        return segment == NONE && area.freeSegments() > 0;
    }

    // ---- control messages

    @Override
    public StreamWorkRequest nextControl() {
        if (!established || failure != null || !connected || !queue.hasControlSlot()) {
            return null;
        }
        if (ending) {
            return end();
        }
        if (!server && !askedEver) {
            return ask();
        }
        if (wantsMemory()) {
            segment = area.advertise();
            offset = 0;
            offered = true;
            return send(sent.registerMemory(area.segmentAddress(segment), area.segmentLength(), area.key()), false);
        }
        if (questionCount > 0) {
            int select = questions[0];
            System.arraycopy(questions, 1, questions, 0, --questionCount);
            return send(sent.features(ValkeyMessage.GET_FEATURES, select, 0), false);
        }
        if (wantsSetFeatures) {
            wantsSetFeatures = false;
            return send(sent.features(ValkeyMessage.SET_FEATURES, 0, 0), false);
        }
        if (!server && askedAt == NONE && messages - confirmed >= ASK_AFTER) {
            return ask();
        }
        if (keepAlive) {
            keepAlive = false;
            return hasCredit() ? send(sent.keepAlive(), true) : emptyWrite();
        }
        return null;
    }

    private StreamWorkRequest ask() {
        askedEver = true;
        send(sent.features(ValkeyMessage.GET_FEATURES, 0, 0), false);
        askedAt = messages;
        return request;
    }

    /**
     * Ends the connection. The protocol has no message for that. The connection manager disconnects after the last
     * request has completed, because then all bytes have arrived.
     */
    private StreamWorkRequest end() {
        connected = false;
        StreamWorkRequest last = queue.isSignalled() ? null : emptyWrite();
        endSequence = queue.next() - 1;
        return last;
    }

    private StreamWorkRequest send(ValkeyMessage message, boolean signal) {
        request.ofMessage(message.bytes());
        messages++;
        queue.post(request, signal);
        return request;
    }

    /** Posts an empty WRITE: the peer's device answers it, and its process does not notice it. */
    private StreamWorkRequest emptyWrite() {
        request.of(Kind.KEEP_ALIVE, 0, 0, 0, 0);
        queue.post(request, true);
        return request;
    }

    @Override
    public void keepAlive() {
        keepAlive = true;
    }

    // ---- the end

    @Override
    public void shutdownOutput() {
        outputOpen = false;
    }

    @Override
    public void disconnect() {
        outputOpen = false;
        ending = true;
    }

    @Override
    public boolean isDrained() {
        return failure != null || !connected && queue.isCompleted(endSequence);
    }

    /** No message ends a connection. */
    @Override
    public boolean isEndedByPeer() {
        return false;
    }

    @Override
    public boolean disconnectedByPeer() {
        connected = false;
        endSequence = NONE;
        return true;
    }
}
