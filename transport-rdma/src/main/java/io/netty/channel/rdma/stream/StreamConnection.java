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
 * One connection of the rsockets byte-stream protocol, version 1. It touches no memory, apart from the target SGL.
 * {@link StreamConfig#receiveQueueDepth()} receives are posted for it. Nothing is allocated after {@link #establish}.
 */
public final class StreamConnection implements StreamMachine {
    /** The protocol. */
    public static final StreamProtocol PROTOCOL = new Rsockets();

    /** Credit updates of librdmacm are a sum of two 16-bit numbers that is not cut to 16 bits. */
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
    /** SHUTDOWN or DISCONNECT, until it is taken. */
    private StreamWorkRequest.Kind ending;
    private long endSequence;
    private boolean keepAlive;
    /** The peer asked for its receive buffers, and has no answer yet. */
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
     * True if a credit message came since no buffer was found. Only its completion orders the memory that was written
     * with it; without one there is no reason to look at an entry that may be half written.
     */
    private boolean mayHaveEntry;
    private int granted;
    /** Receives that completed and are not posted again. */
    private int receivesUsed;
    /** Some of the receives were used by messages that need no credit. */
    private boolean receivesUsedFreely;

    /**
     * @param config the sizes
     * @param area where the first bytes land; one of its segments is advertised by the connection data
     * @param sgl our target SGL of {@link StreamConfig#targetSglEntries()} entries, all of length 0. It is not looked
     *         at before the peer has granted something: memory that is only read may take pages, too
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

    /** As {@link #privateData}, in parts. The key must allow remote writing. */
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

    /** As above, with what was read. */
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
     * Takes the next buffer that the peer offers. The entry of the target SGL is copied, and its length zeroed in the
     * shared memory at once. The peer only overwrites an entry once the buffer is filled, which it cannot be before
     * something is posted into it; so the zero never destroys an update (the race that {@code rs_write_data} of
     * librdmacm warns of), and a peer that changes an entry while it is in use changes nothing here.
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
     * A message arrived by a SEND of 4 bytes, as from an iWARP device, which has no immediate data. Nothing tells how
     * many bytes were written before it.
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
     * {@inheritDoc} That is before the peer is granted new credits, or when some were used by messages that need no
     * credit. Those that data used need not be posted before that, since the peer has no credits for more data than
     * there are receives left.
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

    /** {@inheritDoc} The peer does not understand that if it is librdmacm. */
    @Override
    public boolean retract() {
        return receive.retract();
    }

    /** {@inheritDoc} After most messages neither is the case. */
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
            // As rsockets does: with the other direction already ended, the end of this one ends the connection.
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
            // The answer comes behind all that was written into what is given back.
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

    /** A message ends the stream: whoever disconnects without has reset it. */
    @Override
    public boolean disconnectedByPeer() {
        return false;
    }

    /** {@inheritDoc} It is an empty write. */
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
        // Sequence numbers are 16 bits and absolute: what is granted is the distance from what was sent.
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
     * Forgets all buffers that the peer offered. Those were written in turn from the next entry on, and the peer offers
     * no others before it has our answer. One that has written elsewhere gets back what is there all the same: it may
     * use that memory for something else now.
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
            // Once ours is posted; otherwise nextControl() still has to tell the peer.
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
