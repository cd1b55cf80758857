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

/**
 * One connection of the rsockets byte-stream protocol, version 1. It accesses no registered memory but the target SGL.
 * Its owner posts {@link StreamConfig#receiveQueueDepth()} receives. Nothing is allocated after {@link #establish}.
 */
public final class StreamConnection implements StreamMachine {
    /** The protocol. */
    public static final StreamProtocol PROTOCOL = new Rsockets();

    /** librdmacm sends credit updates as the sum of two 16-bit numbers, without cutting it to 16 bits. */
    private static final int MAX_CREDIT_VALUE = (1 << 17) - 1;

    private final StreamConfig config;
    private final TargetSgl sgl;
    private final ReceiveArea firstArea;
    private final long firstBuffer;
    private final SendQueue queue;
    private final ReceiveWindow receive;
    private final StreamWorkRequest request = new StreamWorkRequest();
    private final Arrival arrival = new Arrival();

    private boolean established;
    /** The peer's host has the other byte order. */
    private boolean swapped;
    private StreamProtocolException failure;
    private boolean inputOpen = true;
    private boolean outputOpen = true;
    /** Neither side sent DISCONNECT, nor did both send SHUTDOWN. */
    private boolean connected = true;
    private boolean peerDisconnected;
    private boolean endedByPeer;
    /** SHUTDOWN or DISCONNECT, until {@link #nextControl()} returns it; else null. */
    private StreamWorkRequest.Kind ending;
    private long endSequence;
    private boolean keepAlive;
    /** The peer asked for its receive buffers, and RETRACTED is not sent yet. */
    private boolean retracted;
    // The send window: the receive buffers and the credits that the peer grants.
    private int peerQueue;
    private int credits;
    /** Data messages, for the sequence numbers of credits. */
    private int sent;
    private long bufferAddress;
    private int bufferKey;
    private long bufferLeft;
    /** Entry 0 stands for the buffer of the connection data; the first one that the peer writes is entry 1. */
    private int nextEntry = 1;
    /**
     * True if a credit message arrived after the last search that found no buffer. Only the completion of that message
     * guarantees that the entry written with it is complete, so the table is not read without one.
     */
    private boolean mayHaveEntry;
    private int granted;
    /** Receives that completed and are not posted again. */
    private int receivesUsed;
    /** Some of the receives were used by messages that need no credit. */
    private boolean receivesUsedFreely;

    /**
     * @param config the sizes
     * @param area the memory where the first bytes arrive; the connection data advertise one of its segments
     * @param sgl our target SGL of {@link StreamConfig#targetSglEntries()} entries, all of length 0. It is not read
     *         before the peer has granted something, because reading may allocate pages, too
     */
    public StreamConnection(StreamConfig config, ReceiveArea area, TargetSgl sgl) {
        if (sgl.entries() != config.targetSglEntries()) {
            throw new IllegalArgumentException("sgl.entries: " + sgl.entries() + " (expected: " +
                    config.targetSglEntries() + ')');
        }
        this.config = config;
        this.sgl = sgl;
        queue = new SendQueue(config);
        firstArea = area;
        int segment = area.advertise();
        firstBuffer = area.segmentAddress(segment);
        receive = new ReceiveWindow(config.credits(), area, segment);
    }

    /** Returns the fields of {@link #privateData}. The key must allow remote writing. */
    public ConnectionData localData(long sglAddress, int sglKey) {
        return new ConnectionData(ConnectionData.HOST_BIG_ENDIAN, true, config.credits(), sglAddress, sglKey,
                sgl.entries(), firstBuffer, firstArea.key(), firstArea.segmentLength());
    }

    @Override
    public byte[] privateData(long sglAddress, int sglKey) {
        ByteBuffer data = ByteBuffer.allocate(ConnectionData.SIZE);
        localData(sglAddress, sglKey).write(data);
        return data.array();
    }

    @Override
    public void establish(ByteBuffer data) throws StreamProtocolException {
        establish(ConnectionData.read(data));
    }

    /** Establishes the connection with the fields that were read from the private data. */
    public void establish(ConnectionData peer) {
        if (established) {
            throw new IllegalStateException("already established");
        }
        established = true;
        swapped = peer.bigEndian() != ConnectionData.HOST_BIG_ENDIAN;
        peerQueue = peer.credits();
        credits = peer.credits();
        bufferAddress = peer.bufferAddress();
        bufferKey = peer.bufferKey();
        bufferLeft = peer.bufferLength();
        receive.establish(peer);
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
        if (outputOpen) {
            return inputOpen ? StreamState.OPEN : StreamState.INPUT_SHUT;
        }
        return inputOpen && ending != StreamWorkRequest.Kind.DISCONNECT ? StreamState.OUTPUT_SHUT : StreamState.CLOSING;
    }

    @Override
    public int writable() throws StreamProtocolException {
        granted = 0;
        if (isOutputUsable() && credits > 0 && (bufferLeft > 0 || nextBuffer())) {
            granted = (int) Math.min(bufferLeft, Immediate.MAX_VALUE);
        }
        return granted;
    }

    private boolean isOutputUsable() {
        return outputOpen && connected && established && failure == null && queue.hasDataSlot();
    }

    @Override
    public boolean isHeldUpByPeer() {
        return isOutputUsable() && (credits == 0 || bufferLeft == 0 && !mayHaveEntry);
    }

    /**
     * Takes the next buffer that the peer offers. The entry of the target SGL is copied, and its length in the
     * registered memory set to 0 at once. The peer overwrites an entry only when its buffer is filled, and no bytes for
     * it are posted yet. So the zero never destroys an update (the race of which {@code rs_write_data} of librdmacm
     * warns). A peer that changes an entry in use has no effect here.
     */
    private boolean nextBuffer() throws StreamProtocolException {
        long length = mayHaveEntry ? sgl.length(nextEntry) & 0xFFFFFFFFL : 0;
        mayHaveEntry = length != 0;
        if (length == 0) {
            return false;
        }
        bufferAddress = sgl.address(nextEntry);
        bufferKey = sgl.key(nextEntry);
        try {
            ConnectionData.checkBuffer(bufferAddress, length);
        } catch (StreamProtocolException e) {
            failure = e;
            throw e;
        }
        bufferLeft = length;
        clearNextEntry();
        return true;
    }

    private void clearNextEntry() {
        sgl.clearLength(nextEntry);
        nextEntry = nextEntry + 1 == sgl.entries() ? 0 : nextEntry + 1;
    }

    @Override
    public StreamWorkRequest write(int bytes) {
        if (bytes < 1 || bytes > granted) {
            throw new IllegalArgumentException("bytes: " + bytes + " (expected: 1 to " + granted + ')');
        }
        granted = 0;
        request.of(StreamWorkRequest.Kind.DATA, Immediate.of(Immediate.DATA, bytes), bufferAddress, bufferKey, bytes);
        bufferAddress += bytes;
        bufferLeft -= bytes;
        credits--;
        sent++;
        queue.post(request, false);
        return request;
    }

    @Override
    public SendQueue sendQueue() {
        return queue;
    }

    @Override
    public boolean isDrained() {
        return failure != null || !connected && (peerDisconnected || queue.isCompleted(endSequence));
    }

    /**
     * {@inheritDoc} A device may complete DISCONNECT here before it acknowledges it (soft-RoCE does), and stopping the
     * queue pair in between would leave the peer waiting for that until its retries are used up.
     */
    @Override
    public boolean isEndedByPeer() {
        return endedByPeer;
    }

    @Override
    public StreamEvent receive(int immediate, int bytes) throws StreamProtocolException {
        if (!established) {
            throw new IllegalStateException("not established");
        }
        if (failure != null) {
            throw failure;
        }
        receivesUsed++;
        receivesUsedFreely |= Immediate.type(immediate) != Immediate.DATA;
        try {
            int value = Immediate.value(immediate);
            switch (Immediate.type(immediate)) {
            case Immediate.DATA:
                data(value, bytes);
                return StreamEvent.DATA;
            case Immediate.CREDIT:
                credit(value);
                return StreamEvent.CREDIT;
            case Immediate.CONTROL:
                return control(value);
            case Immediate.IOMAP:
                throw new StreamProtocolException("the peer says it updated iomap entry " + value +
                        ", but it was offered none");
            default:
                throw new StreamProtocolException("the peer sent a message of the reserved type " +
                        Immediate.type(immediate));
            }
        } catch (StreamProtocolException e) {
            failure = e;
            throw e;
        }
    }

    /**
     * Handles a SEND of 4 bytes from an iWARP device, which has no immediate data. The number of bytes that were
     * written before it is unknown.
     *
     * @param message as an int of this host's byte order; librdmacm sends it in that of its own host
     */
    StreamEvent receiveSent(int message) throws StreamProtocolException {
        int immediate = swapped ? Integer.reverseBytes(message) : message;
        return receive(immediate, Immediate.type(immediate) == Immediate.DATA ? Immediate.value(immediate) : 0);
    }

    @Override
    public StreamEvent receiveSent(ByteBuffer message, int index) throws StreamProtocolException {
        return receiveSent(message.getInt(index));
    }

    /**
     * {@inheritDoc} Receives are posted before the peer is granted new credits, or when messages without a credit used
     * some. Receives that data used can wait until then: the peer has no more credits than there are receives left.
     */
    @Override
    public int receivesToPost() {
        int used = receivesUsed;
        if (used == 0 || !receivesUsedFreely && !receive.wantsGrant()) {
            return 0;
        }
        receivesUsed = 0;
        receivesUsedFreely = false;
        return used;
    }

    @Override
    public Arrival arrival() {
        return arrival;
    }

    @Override
    public void addArea(ReceiveArea area) {
        receive.add(area);
    }

    @Override
    public void removeArea(ReceiveArea area) {
        receive.remove(area);
    }

    @Override
    public long offeredBytes() {
        return receive.offered;
    }

    @Override
    public boolean isOfferingMore() {
        return receive.begun;
    }

    /** {@inheritDoc} librdmacm does not know this message. */
    @Override
    public boolean retract() {
        return receive.retract();
    }

    /** {@inheritDoc} It is false after most messages. */
    @Override
    public boolean mayHaveControl() {
        return receivesUsedFreely || receive.wantsGrant() || ending != null || retracted || keepAlive ||
                receive.wantsRetract();
    }

    /** {@inheritDoc} It is a credit update, a buffer advertisement, SHUTDOWN, DISCONNECT, or a keep-alive. */
    @Override
    public StreamWorkRequest nextControl() {
        if (!established || failure != null || !connected || !queue.hasControlSlot()) {
            return null;
        }
        if (ending != null) {
            // As in rsockets, the end of the second direction ends the connection.
            boolean last = ending == StreamWorkRequest.Kind.DISCONNECT || !inputOpen;
            StreamWorkRequest.Kind kind = last ? StreamWorkRequest.Kind.DISCONNECT : StreamWorkRequest.Kind.SHUTDOWN;
            int value = last ? Immediate.DISCONNECT : Immediate.SHUTDOWN;
            ending = null;
            connected = !last;
            control(kind, value);
            endSequence = request.sequence;
            return request;
        }
        if (inputOpen && receive.wantsGrant()) {
            receive.grant(request);
            queue.post(request, false);
            return request;
        }
        if (retracted) {
            // All writes into these buffers were posted before the answer.
            retracted = false;
            return control(StreamWorkRequest.Kind.RETRACTED, Immediate.RETRACTED);
        }
        if (receive.wantsRetract()) {
            receive.askRetract();
            return control(StreamWorkRequest.Kind.RETRACT, Immediate.RETRACT);
        }
        if (keepAlive) {
            keepAlive = false;
            request.of(StreamWorkRequest.Kind.KEEP_ALIVE, 0, 0, 0, 0);
            queue.post(request, true);
            return request;
        }
        return null;
    }

    private StreamWorkRequest control(StreamWorkRequest.Kind kind, int value) {
        request.of(kind, Immediate.of(Immediate.CONTROL, value), 0, 0, 0);
        queue.post(request, true);
        return request;
    }

    @Override
    public void shutdownOutput() {
        if (outputOpen) {
            outputOpen = false;
            ending = StreamWorkRequest.Kind.SHUTDOWN;
        }
    }

    @Override
    public void disconnect() {
        outputOpen = false;
        ending = StreamWorkRequest.Kind.DISCONNECT;
    }

    /** Returns false: a message ends the stream, and a disconnect without this message is a reset. */
    @Override
    public boolean disconnectedByPeer() {
        return false;
    }

    /** {@inheritDoc} The request is an empty RDMA WRITE. */
    @Override
    public void keepAlive() {
        keepAlive = true;
    }

    private void data(int announced, int written) throws StreamProtocolException {
        if (!inputOpen) {
            throw new StreamProtocolException("the peer sent " + announced + " bytes after it had ended its output");
        }
        if (announced != written) {
            throw new StreamProtocolException("the peer announced " + announced + " bytes but wrote " + written);
        }
        receive.data(announced, arrival);
    }

    private void credit(int value) throws StreamProtocolException {
        // Sequence numbers are 16 bits and absolute: the credits are the difference to the number of sent messages.
        int newCredits = value - sent & 0xFFFF;
        if (value > MAX_CREDIT_VALUE || newCredits < credits || newCredits > peerQueue) {
            throw new StreamProtocolException("the peer's credit update " + value + " allows " + newCredits +
                    " messages more (expected: at least the " + credits + " it granted before, at most its queue of " +
                    peerQueue + ')');
        }
        credits = newCredits;
        mayHaveEntry = true;
    }

    /**
     * Forgets all buffers that the peer offered. Their entries follow each other from the next entry on, and the peer
     * writes no others before it has the answer. Entries elsewhere, written by a wrong peer, are cleared too: the peer
     * may use that memory for something else now.
     */
    private void giveBuffersBack() {
        bufferLeft = 0;
        for (int i = 0; i < sgl.entries() && sgl.length(nextEntry) != 0; i++) {
            clearNextEntry();
        }
        for (int i = 0; i < sgl.entries(); i++) {
            if (sgl.length(i) != 0) {
                sgl.clearLength(i);
            }
        }
        mayHaveEntry = false;
    }

    private StreamEvent control(int value) throws StreamProtocolException {
        switch (value) {
        case Immediate.SHUTDOWN:
            inputOpen = false;
            // Ends the connection if our SHUTDOWN is posted; otherwise nextControl() still has to send one.
            connected &= outputOpen || ending != null;
            return StreamEvent.SHUTDOWN;
        case Immediate.DISCONNECT:
            inputOpen = false;
            endedByPeer = connected;
            connected = false;
            peerDisconnected = true;
            return StreamEvent.DISCONNECT;
        case Immediate.KEEP_ALIVE:
            return StreamEvent.KEEP_ALIVE;
        case Immediate.RETRACT:
            granted = 0;
            retracted = true;
            giveBuffersBack();
            return StreamEvent.RETRACT;
        case Immediate.RETRACTED:
            receive.retracted(arrival);
            return StreamEvent.RETRACTED;
        default:
            throw new StreamProtocolException("the peer sent the unknown control message " + value);
        }
    }

    private static final class Rsockets implements StreamProtocol {
        /** Receive buffers that the peer may offer ahead. */
        private static final int SGL_ENTRIES = 16;

        @Override
        public String protocolName() {
            return "byte streams";
        }

        @Override
        public boolean needsImmediateData() {
            return false;
        }

        @Override
        public int sentMessageSize(boolean immediateData) {
            return immediateData ? 0 : Integer.BYTES;
        }

        @Override
        public int targetSglEntries() {
            return SGL_ENTRIES;
        }

        @Override
        public boolean isReceiveMemoryGrowing() {
            return true;
        }

        @Override
        public StreamMachine newMachine(StreamConfig config, ReceiveArea area, TargetSgl sgl) {
            return new StreamConnection(config, area, sgl);
        }
    }
}
