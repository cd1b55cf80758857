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
package io.netty.channel.rdma.message;

import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.connection.QueuePairOptions;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.verbs.SendFlags;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.util.internal.StringUtil;

import java.io.IOException;

/**
 * Posts the operations that are written to one channel, if its send queue has room, and completes their promises.
 * Operations stay in the {@link ChannelOutboundBuffer} until they are done; the first {@code posted} ones there are in
 * flight.
 *
 * <p>Few work requests ask for a completion, which stands for all work requests before. The last request of a flush
 * asks, unless the application does not want it, and one of each quarter of the send queue.
 *
 * <p>On the loop of the channel.
 */
final class MessageSender implements ChannelOutboundBuffer.MessageProcessor {
    private final RdmaMessageChannel channel;
    private final MessageConnection connection;
    private final ChannelQueuePair queuePair;
    private final SendSlots slots;
    private final FlushedMessages messages;
    private final int room;
    private final int signalInterval;
    private final int maxInline;

    private int posted;
    private boolean completing;
    private boolean again;
    private boolean full;
    // State of the flush that is being posted.
    private OperationGatherer gatherer;
    private int skip;
    private boolean wanted;
    private boolean starved;
    private int unsignalled;

    MessageSender(RdmaMessageChannel channel, MessageConnection connection, ChannelQueuePair queuePair) {
        this.channel = channel;
        this.connection = connection;
        this.queuePair = queuePair;
        slots = new SendSlots(queuePair.sendDepth(), connection.metrics);
        messages = new FlushedMessages(queuePair, channel::flushAgain);
        // The marker of drain() needs one slot.
        room = queuePair.sendDepth() - 1;
        signalInterval = Math.max(1, queuePair.sendDepth() / 4);
        maxInline = OperationGatherer.maxInline(queuePair.queuePair(),
                channel.config.get(QueuePairOptions.MAX_INLINE));
    }

    /** Posts what can be posted of the flushed operations. */
    void write(ChannelOutboundBuffer in) throws Exception {
        if (completing || gatherer != null) {
            // Called by a listener of a promise. Its messages come after the others.
            again = true;
            return;
        }
        messages.buffer(in);
        if (connection.isBroken()) {
            // The requests in flight will have the cause. Then all operations fail together.
            return;
        }
        full = false;
        starved = false;
        skip = posted;
        gatherer = OperationGatherer.get();
        gatherer.clear();
        try {
            in.forEachFlushedMessage(this);
            post();
        } finally {
            gatherer = null;
        }
        messages.setWritable(!full && !starved);
        if (channel.isClosing()) {
            // The close waits for all of these operations.
            drain();
        }
        if (slots.isFirstDone()) {
            queuePair.execute(this::complete);
        } else if (starved && !slots.isEmpty()) {
            drain();
        } else if (starved) {
            messages.retryLater();
        }
    }

    @Override
    public boolean processMessage(Object msg) {
        if (skip > 0) {
            skip--;
            return true;
        }
        if (slots.size() >= room) {
            full = true;
            return false;
        }
        if (!gatherer.hasRoom()) {
            post();
        }
        return add((RdmaOperation) msg);
    }

    private boolean add(RdmaOperation operation) {
        long id = slots.next();
        boolean retained = false;
        Throwable refusal;
        try {
            operation.retain();
            retained = true;
            refusal = operation.busy();
            refusal = refusal != null ? refusal : refusal(operation);
            if (refusal == null && !gather(operation, id)) {
                operation.release();
                starved = true;
                return false;
            }
        } catch (Exception | OutOfMemoryError e) {
            // Includes errors of a buffer that was released too early. They fail only this operation.
            slots.discardNext();
            refusal = e;
        }
        if (refusal != null && retained) {
            operation.release();
        }
        slots.add(operation, refusal);
        posted++;
        return true;
    }

    private boolean gather(RdmaOperation operation, long id) throws IOException {
        boolean signalled = unsignalled + 1 >= signalInterval;
        int flags = (signalled ? SendFlags.SIGNALED : 0) | (operation.isFenced() ? SendFlags.FENCE : 0);
        if (!gatherer.add(operation, slots, id, flags, queuePair, maxInline)) {
            return false;
        }
        unsignalled = signalled ? 0 : unsignalled + 1;
        wanted = !signalled && (wanted || !operation.isUnsignalled());
        return true;
    }

    private Throwable refusal(RdmaOperation operation) throws VerbsException {
        if (queuePair.context().iwarp && iwarpRefusal(operation) != null) {
            return iwarpRefusal(operation);
        }
        if (operation.kind() == RdmaMessageMetrics.Kind.ATOMIC && !queuePair.context().attributes.supportsAtomics()) {
            return new UnsupportedOperationException(queuePair.device() + " has no atomic operations");
        }
        if (operation instanceof RdmaSendInv && !queuePair.context().attributes.supportsSendWithInvalidate()) {
            return new UnsupportedOperationException(queuePair.device() + " has no SEND WITH INVALIDATE");
        }
        if (operation.length() > queuePair.context().maxMessage) {
            return new RdmaOperationException(operation, WorkCompletionStatus.LOCAL_LENGTH_ERROR,
                    "a message on " + queuePair.device() + " has at most " + queuePair.context().maxMessage + " bytes");
        }
        RdmaOperationException refused = operation.check();
        return refused == null && !hasResources(operation) ?
                new RdmaOperationException(operation, WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                        "INITIATOR_DEPTH here or RESPONDER_RESOURCES of the peer is 0, so the connection has no " +
                        "RDMA reads and atomics") : refused;
    }

    private boolean hasResources(RdmaOperation operation) throws VerbsException {
        return operation.kind() != RdmaMessageMetrics.Kind.READ &&
                operation.kind() != RdmaMessageMetrics.Kind.ATOMIC || connection.hasReads();
    }

    /** The error of an operation for which an iWARP device would end the connection, or {@code null}. */
    private Throwable iwarpRefusal(RdmaOperation operation) {
        if (!RdmaCapabilities.isSupported(operation.getClass(), true, queuePair.context().attributes)) {
            return new UnsupportedOperationException(queuePair.device() + " is an iWARP device, which has no " +
                    StringUtil.simpleClassName(operation) + ": RdmaCapabilities tells what there is");
        }
        if (operation.kind() != RdmaMessageMetrics.Kind.READ || operation.length() == 0) {
            return null;
        }
        for (RegisteredSlice slice : operation.local()) {
            if (!slice.memory().permissions().contains(RdmaPermission.REMOTE_WRITE)) {
                return refusedRead(operation);
            }
        }
        return operation.isLocal() ? null : refusedRead(operation);
    }

    private RdmaOperationException refusedRead(RdmaOperation operation) {
        return new RdmaOperationException(operation, WorkCompletionStatus.LOCAL_PROTECTION_ERROR, queuePair.device() +
                " is an iWARP device, which reads only into memory that the peer can write to: read into slices of " +
                "RegisteredMemory with REMOTE_WRITE");
    }

    private void post() {
        if (gatherer.chain.isEmpty()) {
            return;
        }
        if (wanted) {
            wanted = false;
            unsignalled = 0;
            gatherer.chain.addFlags(SendFlags.SIGNALED);
        }
        post(gatherer);
    }

    private void post(OperationGatherer chain) {
        VerbsException failure = chain.post(queuePair.queuePair(), slots);
        queuePair.loop().posted();
        connection.posted();
        if (failure != null) {
            connection.fail(failure);
        }
    }

    /** A work request has completed. */
    void completed(long id, int status) {
        Throwable cause = null;
        if (status != WorkCompletionStatus.SUCCESS) {
            RdmaOperation operation = slots.operation(id);
            cause = operation == null ? new RdmaOperationException(status)
                    : new RdmaOperationException(operation, status);
            if (status == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
                // The status has no cause: something else has ended the connection.
                cause.initCause(connection.cause());
            }
        }
        slots.completed(id, cause);
    }

    /** Completes the promises of completed requests, which may run user code. */
    void complete() {
        if (completing || connection.isDestroyed()) {
            return;
        }
        completing = true;
        try {
            while (slots.isFirstDone()) {
                completeFirst();
                if (connection.isDestroyed()) {
                    return;
                }
            }
        } finally {
            completing = false;
        }
        if (again || full || starved) {
            again = false;
            channel.flushAgain();
        }
    }

    private void completeFirst() {
        RdmaOperation operation = slots.first();
        Throwable cause = slots.firstFailure();
        if (cause == null) {
            slots.finishFirst();
        }
        // The message is still retained by the outbound buffer.
        slots.removeFirst();
        if (operation == null) {
            return;
        }
        posted--;
        messages.remove(cause);
    }

    /**
     * Makes all written operations complete. If no completion is to come, asks for one by an empty RDMA write, which
     * needs no key, and which the peer does not notice.
     */
    void drain() {
        if (unsignalled > 0 && !connection.isBroken() && gatherer == null) {
            probe();
        }
    }

    /** Posts an empty RDMA write. Its completion shows that the peer's device has all earlier requests. */
    void probe() {
        if (slots.size() < queuePair.sendDepth()) {
            OperationGatherer marker = OperationGatherer.get();
            marker.clear();
            long id = slots.next();
            marker.chain.write(id, SendFlags.SIGNALED, 0, 0);
            slots.add(null, null);
            unsignalled = 0;
            post(marker);
        }
    }

    /** Returns whether a completion is to come, which is a sign of the peer's device. */
    boolean isWaiting() {
        return slots.size() > unsignalled;
    }

    /** Returns whether flushed operations are in flight or wait. */
    boolean isBusy() {
        return !slots.isEmpty() || !messages.isEmpty();
    }

    /** Returns whether every operation that was posted has completed. */
    boolean isDrained() {
        return slots.isEmpty();
    }

    /** Releases all operations in flight. The queue pair is gone. */
    void release() {
        posted = 0;
        slots.release();
    }
}
