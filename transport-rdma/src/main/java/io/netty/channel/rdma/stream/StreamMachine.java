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
 * One connection of a byte-stream protocol: what may be sent, what has arrived, what the peer must be told. It neither
 * posts work requests nor touches the memory where bytes arrive; the owner of the queue pair does what it says, in the
 * order in which it says it.
 * <p>
 * Use:
 * <ul>
 * <li>The peer is told {@link #privateData}, and what it tells is given to {@link #establish} before any completion of
 *     the queue pair is. All receives are posted at first, and those that completed again when {@link
 *     #receivesToPost()} says so.</li>
 * <li>Output: while there are bytes and {@link #writable()} is not 0, {@link #write} and post the request. The requests
 *     of one flush can be one chain; {@link SendQueue#signal()} makes the last one ask for a completion.</li>
 * <li>Each receive completion: {@link #receive} or {@link #receiveSent}. Each successful send completion: {@link
 *     SendQueue#completed}.</li>
 * <li>After each batch of the above, and after segments were released: post {@link #receivesToPost()} receives and
 *     what {@link #nextControl()} returns until it returns null; then try to write again.</li>
 * </ul>
 * Not thread-safe: for the event loop of the connection.
 */
public interface StreamMachine {
    /**
     * The private data of the connection request or reply for the peer.
     *
     * @param sglAddress address of our target SGL
     * @param sglKey its rkey
     */
    byte[] privateData(long sglAddress, int sglKey);

    /**
     * Begins with what the peer told us. Sending is allowed from now on.
     *
     * @param data the private data of the peer, not changed
     */
    void establish(ByteBuffer data) throws ProtocolException;

    StreamState state();

    /**
     * Maximum of bytes in one message now, which the peer and the send queue allow. 0 means wait: for the peer, or for
     * completions if the send queue has no room.
     *
     * @throws StreamProtocolException if the peer advertised a buffer that cannot be one
     */
    int writable() throws StreamProtocolException;

    /** Returns whether only the peer can make {@link #writable()} more than 0 again, after it was 0. */
    boolean isHeldUpByPeer();

    /**
     * Takes a message of so many bytes. The caller must post it.
     *
     * @param bytes 1 to what {@link #writable()} just returned; ask it again before the next write
     * @return the work request to post, valid until the next call that returns one
     */
    StreamWorkRequest write(int bytes);

    /**
     * The numbers of the work requests. It is told when one completes successfully, and with it all before it, and when
     * the last one that was returned asks for a completion although it need not.
     */
    SendQueue sendQueue();

    /**
     * Returns whether the queue pair may be torn down without losing bytes: our end of the connection is complete, and
     * so is all that was written before it; or the peer reads no more; or it broke the protocol.
     */
    boolean isDrained();

    /**
     * Returns whether a message of the peer ended the connection, and not ours, which it may have crossed: the peer
     * disconnects once it has the acknowledgement of that message, which is the time to stop the queue pair.
     */
    boolean isEndedByPeer();

    /**
     * The peer has disconnected by the connection manager.
     *
     * @return whether that is the end of its stream; false where a message is, and so this alone is a reset
     */
    boolean disconnectedByPeer();

    /**
     * An immediate arrived.
     *
     * @param immediate as a host integer
     * @param bytes the byte count of the completion: as many as were written with the immediate
     * @return what it meant
     * @throws StreamProtocolException if it broke the protocol; nothing else changed, and the connection is to be torn
     *         down
     */
    StreamEvent receive(int immediate, int bytes) throws StreamProtocolException;

    /**
     * A message arrived by a SEND.
     *
     * @param message holds the bytes, which the peer may still change
     * @param index of the first byte of {@link StreamProtocol#sentMessageSize}
     * @return as {@link #receive}
     * @throws StreamProtocolException as {@link #receive}
     */
    StreamEvent receiveSent(ByteBuffer message, int index) throws StreamProtocolException;

    /**
     * Number of receives to post now, of those that completed and are not posted again.
     *
     * @return 0 if there is no need; otherwise the caller must post so many before it calls {@link #nextControl()}
     */
    int receivesToPost();

    /** Where the bytes of the last {@link StreamEvent#DATA} are. */
    Arrival arrival();

    /**
     * Bytes that the peer may still send into segments that were advertised to it. 0 means that it has used up all that
     * it was offered, and waits if it has more to send.
     */
    long offeredBytes();

    /** Returns whether the peer is told of more segments than the first one. */
    boolean isOfferingMore();

    /**
     * Advertises segments of this area, too, from now on, and rather than those of the areas before it. Where {@link
     * StreamProtocol#isReceiveMemoryGrowing receive memory grows}.
     */
    default void addArea(ReceiveArea area) {
        throw new UnsupportedOperationException();
    }

    /**
     * Ends advertising segments of this area. Segments that the peer knows are still filled, unless it gives them back,
     * and released; {@link ReceiveArea#isIdle()} says when all have come back. Where receive memory grows.
     *
     * @throws IllegalArgumentException if the area is not in use, or the only one that is
     */
    default void removeArea(ReceiveArea area) {
        throw new UnsupportedOperationException();
    }

    /**
     * Asks the peer to give back all segments that it has not filled: {@link StreamEvent#RETRACTED} is its answer.
     * Until then nothing more is advertised, and bytes may still arrive.
     *
     * @return false if the peer does not understand that, or has nothing to give back
     */
    default boolean retract() {
        return false;
    }

    /**
     * Returns whether receives may have to be posted, or a control message may be due: false spares the questions for
     * both.
     */
    default boolean mayHaveControl() {
        return true;
    }

    /**
     * The next control message that is due.
     *
     * @return the work request to post, valid until the next call that returns one; or null: none is due, or the send
     *         queue is full and completions must come first
     */
    StreamWorkRequest nextControl();

    /** Ends our output behind what was written before. Again: no effect. */
    void shutdownOutput();

    /**
     * Ends the connection behind what was written before, unless the peer has. Bytes of the peer that were under way
     * still arrive, and are to be dropped.
     */
    void disconnect();

    /** Asks for a request that makes the device find out whether the peer's device still answers. */
    void keepAlive();
}
