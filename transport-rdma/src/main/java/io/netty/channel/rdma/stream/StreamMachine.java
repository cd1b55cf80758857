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

import java.net.ProtocolException;
import java.nio.ByteBuffer;

/**
 * State machine of one connection of a byte-stream protocol. It decides what may be sent, which bytes have arrived, and
 * which control messages are due. The owner of the queue pair posts the work requests, in the order in which this
 * object returns them, and accesses the bytes.
 * <p>
 * Use:
 * <ul>
 * <li>Connect: send {@link #privateData} to the peer, and give the peer's private data to {@link #establish} before any
 *     completion of the queue pair. Post all receives at first. Post completed ones again when {@link
 *     #receivesToPost()} says so.</li>
 * <li>Output: while there are bytes and {@link #writable()} is not 0, {@link #write} and post the request. The requests
 *     of one flush can be one chain; {@link SendQueue#signal()} makes the last one ask for a completion.</li>
 * <li>Each receive completion: {@link #receive} or {@link #receiveSent}. Each successful send completion: {@link
 *     SendQueue#completed}.</li>
 * <li>After each batch of the above, and after a release of segments: post {@link #receivesToPost()} receives, then
 *     each request of {@link #nextControl()} until it returns null. Then try to write again.</li>
 * </ul>
 * Not thread-safe: for the event loop of the connection.
 */
public interface StreamMachine {
    /**
     * Returns the private data of the connection request or reply, for the peer.
     *
     * @param sglAddress address of our target SGL
     * @param sglKey its rkey
     */
    byte[] privateData(long sglAddress, int sglKey);

    /**
     * Establishes the connection with the private data of the peer. Sending is allowed from now on.
     *
     * @param data the private data of the peer, not changed
     */
    void establish(ByteBuffer data) throws ProtocolException;

    StreamState state();

    /**
     * Returns the maximum number of bytes of one message now, as the peer and the send queue allow. 0 means: wait for
     * the peer, or for completions if the send queue is full.
     *
     * @throws StreamProtocolException if the peer advertised an invalid buffer
     */
    int writable() throws StreamProtocolException;

    /** Returns whether only the peer can make {@link #writable()} more than 0 again, after it was 0. */
    boolean isHeldUpByPeer();

    /**
     * Takes a message of so many bytes. The caller must post it.
     *
     * @param bytes 1 to the last result of {@link #writable()}, which must be called again before the next write
     * @return the work request to post, valid until the next call that returns one
     */
    StreamWorkRequest write(int bytes);

    /**
     * Returns the numbering of the work requests. The caller tells it when a request (with all before it) completes
     * successfully, and when the last request asks for a completion without {@link StreamWorkRequest#signalled()}.
     */
    SendQueue sendQueue();

    /**
     * Returns whether the queue pair may be torn down without losing bytes. True if the last message of this side and
     * all before it are complete, or the peer reads no more, or it broke the protocol.
     */
    boolean isDrained();

    /**
     * Returns whether a message of the peer ended the connection, and not one of this side; the two may have crossed.
     * The peer disconnects once it has the acknowledgement of its message. Then it is time to stop the queue pair.
     */
    boolean isEndedByPeer();

    /**
     * Notes that the peer has disconnected by the connection manager.
     *
     * @return whether the disconnect ends the stream; false if the protocol ends it by a message, so that a disconnect
     *         alone is a reset
     */
    boolean disconnectedByPeer();

    /**
     * Handles an immediate that arrived.
     *
     * @param immediate as a host integer
     * @param bytes the byte count of the completion: the number of bytes that were written with the immediate
     * @return the meaning of the immediate
     * @throws StreamProtocolException if the peer broke the protocol; the connection must be torn down
     */
    StreamEvent receive(int immediate, int bytes) throws StreamProtocolException;

    /**
     * Handles a message that arrived by a SEND.
     *
     * @param message holds the bytes, which the peer may still change
     * @param index of the first byte of {@link StreamProtocol#sentMessageSize}
     * @return as {@link #receive}
     * @throws StreamProtocolException as {@link #receive}
     */
    StreamEvent receiveSent(ByteBuffer message, int index) throws StreamProtocolException;

    /**
     * Returns the number of receives to post now, of those that completed and are not posted again.
     *
     * @return 0 if none is needed; otherwise the caller must post so many before it calls {@link #nextControl()}
     */
    int receivesToPost();

    /** Returns the place of the bytes of the last {@link StreamEvent#DATA}. */
    Arrival arrival();

    /**
     * Returns the number of bytes that the peer may still send into advertised segments. A peer with more to send
     * waits.
     */
    long offeredBytes();

    /** Returns whether segments other than the first one are advertised. */
    boolean isOfferingMore();

    /**
     * Starts advertising segments of this area, in preference to earlier areas. Only if {@link
     * StreamProtocol#isReceiveMemoryGrowing receive memory grows}.
     */
    default void addArea(ReceiveArea area) {
        throw new UnsupportedOperationException();
    }

    /**
     * Ends advertising segments of this area. The peer may still fill those that it knows, unless it gives them back.
     * {@link ReceiveArea#isIdle()} tells when all have come back. Only if receive memory grows.
     *
     * @throws IllegalArgumentException if the area is not in use, or is the only one in use
     */
    default void removeArea(ReceiveArea area) {
        throw new UnsupportedOperationException();
    }

    /**
     * Asks the peer to give back all segments that it has not filled. {@link StreamEvent#RETRACTED} is the answer.
     * Until then no segments are advertised, and bytes may still arrive.
     *
     * @return false if the peer does not know this message, or has nothing to give back
     */
    default boolean retract() {
        return false;
    }

    /**
     * Returns whether receives may have to be posted, or a control message may be due. After false {@link
     * #receivesToPost()} and {@link #nextControl()} need not be called.
     */
    default boolean mayHaveControl() {
        return true;
    }

    /**
     * Returns the next control message that is due.
     *
     * @return the work request to post, valid until the next call that returns one; or null if none is due, or if the
     *         send queue is full and completions must come first
     */
    StreamWorkRequest nextControl();

    /** Ends the output of this side, behind all that was written before. A second call has no effect. */
    void shutdownOutput();

    /**
     * Ends the connection, behind all that was written before, unless the peer has ended it. Bytes of the peer that
     * were under way still arrive, and the caller must drop them.
     */
    void disconnect();

    /** Makes {@link #nextControl()} return a request that tests whether the peer's device still answers. */
    void keepAlive();
}
