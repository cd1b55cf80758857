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
package io.netty.channel.rdma.connection;

import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.Retry;
import io.netty.channel.rdma.monitor.Recorder;
import io.netty.channel.rdma.stream.StreamConnection;
import io.netty.channel.rdma.stream.StreamRequest;
import io.netty.channel.rdma.stream.StreamState;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Posts what the protocol of one connection has to say and what its messages give, whenever that may have become
 * possible. On the loop of the connection.
 */
final class RdmaSender {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaSender.class);

    /** In a row, as epoll's channels write up to 16 times (WRITE_SPIN_COUNT). Then others have their turn. */
    private static final int MAX_CHAINS = 16;

    private final ConnectionOwner owner;
    private final RdmaConnection connection;
    private final StreamConnection stream;
    private final RdmaOutbound outbound;
    private final ConnectionLife life;
    /** When memory to send from ran out and nothing in flight will tell that there is some again. */
    private final Retry retry;
    /** There are flushed messages that could not be sent yet, or wait for the end of the turn. */
    private boolean stalled;
    /** Something was flushed in this turn, and was posted at once. */
    private boolean flushedInTurn;
    /** By the call that looks whether this is set. */
    private boolean pumped;
    /** Flushed bytes wait for the peer, and for nothing else. */
    private boolean heldUp;
    /** Of a recording, or {@code null}. */
    private Object stall;
    /** That of the loop of this handler. */
    private Gatherer gatherer;
    private LoopHandler gathererHandler;

    RdmaSender(ConnectionOwner owner, RdmaConnection connection, StreamConnection stream, RdmaOutbound outbound,
               ConnectionLife life) {
        this.owner = owner;
        this.connection = connection;
        this.stream = stream;
        this.outbound = outbound;
        this.life = life;
        retry = new Retry((task, millis) -> connection.loop().schedule(task, millis, TimeUnit.MILLISECONDS),
                this::pumpAll);
    }

    /** A turn of the connection begins. */
    void beginTurn() {
        flushedInTurn = false;
    }

    /**
     * Sends what may be sent of the flushed messages. In a turn of the connection that is the first flush only, whose
     * peer may be waiting for it; those after it are sent together when the turn ends, as it does soon.
     *
     * @throws IOException if the connection can't carry them any more.
     */
    void write(ChannelOutboundBuffer messages) throws Exception {
        if (!connection.loop().isHere()) {
            // Between two loops.
            connection.loop().execute(owner::writable);
            return;
        }
        outbound.flushed(messages);
        if (isWritable()) {
            if (connection.isInTurn() && flushedInTurn) {
                stalled = true;
                return;
            }
            try {
                pump(true);
            } catch (Error e) {
                // The channel would only end its output, but nobody knows what of the stream was left out.
                connection.failed(e);
                throw e;
            }
            flushedInTurn = !stalled;
        } else if (!life.isLost() && (outbound.isInFlight() || life.isBroken())) {
            // What is in flight will tell more.
            stalled = true;
        } else if (connection.inbound().isEndedByPeer() && !owner.isEndReported()) {
            // What the peer had sent before its end is read first: then the channel fails them.
            stalled = true;
        } else {
            throw life.writeFailure();
        }
    }

    /** Fails what was flushed, without closing the channel. */
    void fail(ChannelOutboundBuffer messages, IOException cause) {
        outbound.detach(false);
        stalled = false;
        while (messages.current() != null) {
            messages.remove(cause);
        }
    }

    /** Whether anything can still be sent, now or later. */
    boolean isWritable() {
        return !life.isBroken() && stream.state() != StreamState.DISCONNECTED && stream.state() != StreamState.FAILED;
    }

    /**
     * Posts the control messages that are due and, if wanted, data. Messages that are complete with that may have
     * listeners which flush more.
     */
    private void pump(boolean data) throws Exception {
        pumped = true;
        int chains = 0;
        do {
            if (++chains > MAX_CHAINS) {
                stalled = true;
                connection.loop().execute(this::pumpAll);
                return;
            }
            post(data);
        } while (outbound.completeCopied() && outbound.hasMessages() && data);
    }

    /** One chain of work requests. */
    private void post(boolean data) throws Exception {
        if (!connection.isReady() || life.isBroken()) {
            stalled |= data;
            return;
        }
        Gatherer gatherer = gatherer();
        if (!gatherer.begin(outbound)) {
            stalled |= data;
            connection.loop().execute(this::pumpAll);
            return;
        }
        try {
            connection.inbound().beforeOffer();
            // Credits must not be granted before the receives that stand for them are posted.
            connection.postReceives();
            if (life.isBroken()) {
                stalled |= data;
                return;
            }
            for (StreamRequest request; (request = stream.nextControl()) != null;) {
                gatherer.control(request);
            }
            if (data) {
                // Who waits for what fails here would wait in vain.
                stalled = false;
                stalled = !outbound.gather(gatherer);
                heldUp(stalled && outbound.isHeldUpByPeer());
            }
        } finally {
            if (gatherer.end()) {
                connection.loop().handler().posted();
            }
            connection.liveness().posted();
        }
        if (outbound.postFailure() != null) {
            life.fail(outbound.postFailure());
        } else if (!outbound.isDrained()) {
            retry.done();
        } else if (stalled && gatherer.isStarved()) {
            retry.later();
        }
    }

    private void heldUp(boolean now) {
        if (now != heldUp) {
            heldUp = now;
            if (now) {
                outbound.counters().stalled();
                stall = Recorder.stallBegins();
            } else {
                outbound.counters().resumed();
                Recorder.stallEnds(stall, owner.remote());
                stall = null;
            }
        }
    }

    /** The connection is gone. */
    void end() {
        heldUp(false);
    }

    private Gatherer gatherer() {
        LoopHandler handler = connection.loop().handler();
        if (handler != gathererHandler) {
            // The connection is new or has moved.
            gatherer = handler.shared(Gatherer.class, Gatherer::new);
            gathererHandler = handler;
        }
        return gatherer;
    }

    /** Posts all that may be posted. */
    void pumpAll() {
        if (life.isDestroyed()) {
            return;
        }
        try {
            pumped = false;
            if (stalled && !life.isClosed()) {
                owner.writable();
                // A flush in the middle of a completion may have had nothing new, and then nobody looks again.
                stalled &= outbound.hasMessages();
            }
            if (!pumped) {
                pump(life.isClosed());
            }
        } catch (RejectedExecutionException e) {
            logger.debug("{}: the event loop has ended; its handler destroys what is left", owner, e);
        } catch (Throwable t) {
            connection.failed(t);
        }
    }

    /** Whether flushed bytes have not arrived yet, but may. */
    boolean isSending() {
        return outbound.isInFlight() && !life.isBroken() || stalled && isWritable();
    }

    void shutdownOutput() {
        if (outbound.isReadingShared()) {
            // A write has failed, and all fail with it: see RdmaConnection.close().
            life.fail(new IOException("The output to " + owner.remote() + " ended with bytes under way"));
        }
        outbound.detach(false);
        stalled = false;
        stream.shutdownOutput();
        pumpAll();
    }

    /** Whether something waits for the peer: an acknowledgement, or credits. */
    boolean isWaiting() {
        return !outbound.isDrained() || stalled && isWritable();
    }

    /** Makes the device find out whether the peer's device answers. */
    void probe() {
        stream.keepAlive();
        pumpAll();
    }
}
