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
 * One connection of the rsockets byte-stream protocol, version 1: what may be sent, what has arrived, what the peer
 * must be told. It neither posts work requests nor touches memory, apart from the target SGL; the owner of the queue
 * pair does what it says, in the order in which it says it.
 * <p>
 * Use:
 * <ul>
 * <li>The peer is told {@link #localData}, and what it tells is given to {@link #establish} before any completion of
 *     the queue pair is. {@link StreamConfig#receiveQueueDepth()} empty receives are posted at first, and those that
 *     completed again when {@link #receivesToPost()} says so.</li>
 * <li>Output: while there are bytes and {@link #writable()} is not 0, {@link #write} and post the request. The requests
 *     of one flush can be one chain; {@link #signal()} makes the last one ask for a completion.</li>
 * <li>Each receive completion: {@link #receive}. Each successful send completion: {@link #completed}.</li>
 * <li>After each batch of the above, and after segments were released: post {@link #receivesToPost()} receives and
 *     what {@link #nextControl()} returns until it returns null; then try to write again.</li>
 * </ul>
 * Not thread-safe: for the event loop of the connection. Nothing is allocated after {@link #establish}.
 */
public final class StreamConnection {
    private final StreamConfig config;
    private final TargetSgl sgl;
    private final ReceiveArea firstArea;
    private final long firstBuffer;
    private final SendQueue queue;
    private final SendWindow send;
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
        send = new SendWindow(sgl);
        firstArea = area;
        int segment = area.advertise();
        firstBuffer = area.segmentAddress(segment);
        receive = new ReceiveWindow(config.credits(), area, segment);
    }

    /**
     * The private data of the connection request or reply for the peer.
     *
     * @param sglAddress address of our target SGL
     * @param sglKey its rkey; remote write must be allowed
     */
    public ConnectionData localData(long sglAddress, int sglKey) {
        return new ConnectionData(ConnectionData.HOST_BIG_ENDIAN, true, config.credits(), sglAddress, sglKey,
                sgl.entries(), firstBuffer, firstArea.key(), firstArea.segmentLength());
    }

    /**
     * Begins with what the peer told us. Sending is allowed from now on.
     */
    public void establish(ConnectionData peer) {
        if (established) {
            throw new IllegalStateException("already established");
        }
        established = true;
        swapped = peer.bigEndian() != ConnectionData.HOST_BIG_ENDIAN;
        send.establish(peer);
        receive.establish(peer);
    }

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

    /**
     * Maximum of bytes in one message now, which the peer's current buffer, its credits and the send queue allow.
     * 0 means wait: for {@link StreamEvent#CREDIT}, or for completions if {@link #hasDataSlot()} is false.
     *
     * @throws StreamProtocolException if the peer advertised a buffer that cannot be one
     */
    public int writable() throws StreamProtocolException {
        granted = 0;
        if (outputOpen && connected && established && failure == null && queue.hasDataSlot()) {
            try {
                granted = send.writable();
            } catch (StreamProtocolException e) {
                failure = e;
                throw e;
            }
        }
        return granted;
    }

    /**
     * Returns whether only the peer can make {@link #writable()} more than 0 again, after it was 0: by credits, or by
     * another buffer to write to.
     */
    public boolean isHeldUpByPeer() {
        return outputOpen && connected && established && failure == null && queue.hasDataSlot() && send.isHeldUp();
    }

    /**
     * Takes a message of so many bytes. The caller must post it.
     *
     * @param bytes 1 to what {@link #writable()} just returned; ask it again before the next write
     * @return the work request to post, valid until the next call that returns one
     */
    public StreamWorkRequest write(int bytes) {
        if (bytes < 1 || bytes > granted) {
            throw new IllegalArgumentException("bytes: " + bytes + " (expected: 1 to " + granted + ')');
        }
        granted = 0;
        send.write(bytes, request);
        queue.post(request, false);
        return request;
    }

    /**
     * Says that the last request that was returned asks for a completion although it need not.
     */
    public void signal() {
        queue.signal();
    }

    /**
     * The numbers of the work requests.
     */
    public SendQueue sendQueue() {
        return queue;
    }

    /**
     * Returns whether the send queue has room for data.
     */
    public boolean hasDataSlot() {
        return queue.hasDataSlot();
    }

    /**
     * Returns whether the queue pair may be torn down without losing bytes: our SHUTDOWN or DISCONNECT, which ends the
     * connection, is complete, and so is all that was written before it; or the peer reads no more; or it broke the
     * protocol.
     */
    public boolean isDrained() {
        return failure != null || !connected && (peerDisconnected || queue.isCompleted(endSequence));
    }

    /**
     * Returns whether DISCONNECT of the peer ended the connection, and not ours, which it may have crossed. A device
     * may complete the message here before it acknowledges it (soft-RoCE does), and stopping the queue pair in between
     * would leave the peer waiting for that until its retries are used up. It disconnects once it has the
     * acknowledgement, so that is the time to stop.
     */
    public boolean isEndedByPeer() {
        return endedByPeer;
    }

    /**
     * A send work request completed successfully, and with it all before it.
     *
     * @param sequence of {@link StreamWorkRequest#sequence()}
     */
    public void completed(long sequence) {
        queue.completed(sequence);
    }

    /**
     * An immediate arrived.
     *
     * @param immediate as a host integer
     * @param bytes the byte count of the completion: as many as were written with the immediate
     * @return what it meant
     * @throws StreamProtocolException if it broke the protocol; nothing else changed, and the connection is to be torn
     *         down
     */
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
                send.credit(value);
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
     * @return as {@link #receive}
     * @throws StreamProtocolException as {@link #receive}
     */
    public StreamEvent receiveSent(int message) throws StreamProtocolException {
        int immediate = swapped ? Integer.reverseBytes(message) : message;
        return receive(immediate, Immediate.type(immediate) == Immediate.DATA ? Immediate.value(immediate) : 0);
    }

    /**
     * Number of receives to post now: all that completed and are not posted again, before the peer is granted
     * new credits, or when some were used by messages that need no credit. Those that data used need not be posted
     * before that, since the peer has no credits for more data than there are receives left.
     *
     * @return 0 if there is no need; otherwise the caller must post so many before it calls {@link #nextControl()}
     */
    public int receivesToPost() {
        int used = receivesUsed;
        if (used == 0 || !receivesUsedFreely && !receive.wantsGrant()) {
            return 0;
        }
        receivesUsed = 0;
        receivesUsedFreely = false;
        return used;
    }

    /**
     * Where the bytes of the last {@link StreamEvent#DATA} are.
     */
    public Arrival arrival() {
        return arrival;
    }

    /** Advertises segments of this area, too, from now on, and rather than those of the areas before it. */
    public void addArea(ReceiveArea area) {
        receive.add(area);
    }

    /**
     * Ends advertising segments of this area. Segments that the peer knows are still filled, unless it gives them back,
     * and released; {@link ReceiveArea#isIdle()} says when all have come back.
     *
     * @throws IllegalArgumentException if the area is not in use, or the only one that is
     */
    public void removeArea(ReceiveArea area) {
        receive.remove(area);
    }

    /**
     * Bytes that the peer may still send into segments that were advertised to it. 0 means that it has used up all that
     * it was offered, and waits if it has more to send.
     */
    public long offeredBytes() {
        return receive.offered();
    }

    /** Returns whether the peer is told of more segments than the first one. */
    public boolean isOfferingMore() {
        return receive.hasBegun();
    }

    /**
     * Asks the peer to give back all segments that it has not filled: {@link StreamEvent#RETRACTED} is its answer.
     * Until then nothing more is advertised, and bytes may still arrive.
     *
     * @return false if the peer does not understand that, as librdmacm does not, or has nothing to give back
     */
    public boolean retract() {
        return receive.retract();
    }

    /**
     * Returns whether receives may have to be posted, or a control message may be due. After most messages neither is
     * the case.
     */
    public boolean mayHaveControl() {
        return receivesUsedFreely || receive.wantsGrant() || ending != null || retracted || keepAlive ||
                receive.wantsRetract();
    }

    /**
     * The next control message that is due: a credit update, a buffer advertisement, SHUTDOWN, DISCONNECT, keep-alive.
     *
     * @return the work request to post, valid until the next call that returns one; or null: none is due, or the send
     *         queue is full and completions must come first
     */
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

    /**
     * Ends our output behind what was written before: {@link #nextControl()} will return SHUTDOWN. Again: no effect.
     */
    public void shutdownOutput() {
        if (outputOpen) {
            outputOpen = false;
            ending = StreamWorkRequest.Kind.SHUTDOWN;
        }
    }

    /**
     * Ends the connection behind what was written before: {@link #nextControl()} will return DISCONNECT, unless the
     * peer sent that first. Bytes of the peer that were under way still arrive, and are to be dropped.
     */
    public void disconnect() {
        outputOpen = false;
        ending = StreamWorkRequest.Kind.DISCONNECT;
    }

    /**
     * Asks for an empty write that makes the device find out whether the peer's device still answers.
     */
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
            send.retract();
            return StreamEvent.RETRACT;
        case Immediate.RETRACTED:
            receive.retracted(arrival);
            return StreamEvent.RETRACTED;
        default:
            throw new StreamProtocolException("the peer sent the unknown control message " + value);
        }
    }
}
