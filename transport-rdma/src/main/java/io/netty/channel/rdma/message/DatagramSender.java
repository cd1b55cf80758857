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
import io.netty.channel.rdma.verbs.AddressHandle;
import io.netty.channel.rdma.verbs.SendFlags;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;

/**
 * Sends the datagrams that are written to one channel. A datagram whose recipient is being resolved does not delay
 * datagrams to other recipients. But promises are done in the order of the writes, because the outbound buffer needs
 * that.
 *
 * <p>As with connections, the last work request of a flush asks for a completion, and one of each quarter of the send
 * queue. On the loop of the channel.
 */
final class DatagramSender implements ChannelOutboundBuffer.MessageProcessor, AddressHandles.Listener {
    /** Datagrams that may wait beyond the send queue. Each flush iterates over them. */
    private static final int MAX_WAITING = 1024;

    private final RdmaDatagramChannel channel;
    private final DatagramQueuePair owner;
    private final ChannelQueuePair queuePair;
    private final DevicePort port;
    private final AddressHandles handles;
    private final SendSlots slots;
    private final FlushedMessages messages;
    private final int depth;
    private final int signalInterval;
    private final int maxInline;
    private final int trafficClass;
    /** The datagrams that were taken from the outbound buffer, in its order. */
    private final ArrayDeque<DatagramSend> taken = new ArrayDeque<>();
    /** The taken datagrams that can be sent. */
    private final ArrayDeque<DatagramSend> ready = new ArrayDeque<>();
    private int skip;
    private boolean full;
    private boolean starved;
    private boolean writing;
    private boolean completing;
    private boolean again;
    private boolean released;
    private int unsignalled;

    DatagramSender(RdmaDatagramChannel channel, DatagramQueuePair owner, ChannelQueuePair queuePair, DevicePort port) {
        this.channel = channel;
        this.owner = owner;
        this.queuePair = queuePair;
        this.port = port;
        handles = new AddressHandles(queuePair.context().domain, AddressHandles.MAX_HANDLES,
                port.attributes.isEthernet() ? AddressHandles.BESIDE : AddressHandles.AT_ONCE, channel.eventLoop(),
                this);
        depth = queuePair.sendDepth();
        slots = new SendSlots(depth, owner.metrics);
        messages = new FlushedMessages(queuePair, channel::flushAgain);
        signalInterval = Math.max(1, depth / 4);
        trafficClass = channel.config.get(QueuePairOptions.TRAFFIC_CLASS);
        maxInline = OperationGatherer.maxInline(queuePair.queuePair(),
                channel.config.get(QueuePairOptions.MAX_INLINE));
    }

    /** Sends what can be sent of the flushed datagrams. */
    void write(ChannelOutboundBuffer in) throws Exception {
        if (writing || completing) {
            // Called by a listener of a promise. Its messages come after the others.
            again = true;
            return;
        }
        messages.buffer(in);
        writing = true;
        try {
            full = false;
            skip = taken.size();
            in.forEachFlushedMessage(this);
            post();
        } finally {
            writing = false;
        }
        messages.setWritable(!full && ready.isEmpty());
        if (slots.isFirstDone() || !taken.isEmpty() && taken.peek().isDone()) {
            queuePair.execute(this::complete);
        } else if (starved && slots.isEmpty()) {
            messages.retryLater();
        }
    }

    @Override
    public boolean processMessage(Object msg) {
        if (skip > 0) {
            skip--;
            return true;
        }
        if (taken.size() >= depth + MAX_WAITING) {
            full = true;
            return false;
        }
        DatagramSend send = (DatagramSend) msg;
        taken.add(send);
        try {
            checkLength(send);
            if (owner.route(send)) {
                ready.add(send);
            }
        } catch (Exception | OutOfMemoryError e) {
            fail(send, e);
        }
        return true;
    }

    private void fail(DatagramSend send, Throwable cause) {
        owner.metrics.failed();
        send.done(cause);
    }

    private void checkLength(DatagramSend send) throws RdmaOperationException {
        int most = port.attributes.activeMtu();
        if (send.length() > most) {
            throw new RdmaOperationException(send, WorkCompletionStatus.LOCAL_LENGTH_ERROR, "a datagram has at most " +
                    most + " bytes, the MTU of port " + port.number + " of " + queuePair.device() +
                    ": send less at a time, or use a RdmaMessageChannel");
        }
    }

    @Override
    public void made(List<DatagramSend> sends) {
        ready(sends);
    }

    @Override
    public void failed(Collection<DatagramSend> sends, Throwable cause) {
        sends.forEach(send -> fail(send, cause));
        complete();
    }

    /** Sends datagrams whose recipients were resolved. */
    void ready(Collection<DatagramSend> sends) {
        ready.addAll(sends);
        channel.flushAgain();
    }

    private void post() {
        OperationGatherer gatherer = OperationGatherer.get();
        gatherer.clear();
        starved = false;
        while (!ready.isEmpty() && slots.size() < depth && !owner.isBroken()) {
            if (!gatherer.hasRoom()) {
                post(gatherer);
            }
            if (!add(ready.peek(), gatherer)) {
                starved = true;
                break;
            }
            ready.poll();
        }
        post(gatherer);
    }

    /** Returns false if there is no staging memory at the moment. */
    private boolean add(DatagramSend send, OperationGatherer gatherer) {
        long id = slots.next();
        boolean retained = false;
        try {
            send.retain();
            retained = true;
            AddressHandle handle = handles.get(send.target().vector(queuePair.device(), port, trafficClass), send, id);
            if (handle == null) {
                send.release();
                return true;
            }
            send.handle(handle);
            boolean signalled = unsignalled + 1 >= signalInterval;
            if (!gatherer.add(send, slots, id, signalled ? SendFlags.SIGNALED : 0, queuePair, maxInline)) {
                send.release();
                return false;
            }
            unsignalled = signalled ? 0 : unsignalled + 1;
            slots.add(send, null);
        } catch (Exception | OutOfMemoryError e) {
            // Includes errors of a buffer that was released too early. They fail only this datagram.
            slots.discardNext();
            if (retained) {
                send.release();
            }
            fail(send, e);
        }
        return true;
    }

    private void post(OperationGatherer gatherer) {
        if (gatherer.chain.isEmpty()) {
            return;
        }
        unsignalled = 0;
        gatherer.chain.addFlags(SendFlags.SIGNALED);
        VerbsException failure = gatherer.post(queuePair.queuePair(), slots);
        queuePair.loop().posted();
        if (failure != null) {
            owner.fail(failure);
        }
    }

    /** A work request has completed. */
    void completed(long id, int status) {
        RdmaOperation operation = status == WorkCompletionStatus.SUCCESS ? null : slots.operation(id);
        slots.completed(id, operation == null ? null : new RdmaOperationException(operation, status));
    }

    /** Completes the promises of datagrams that are done, which may run user code. */
    void complete() {
        if (completing || writing || released) {
            return;
        }
        completing = true;
        try {
            while (slots.isFirstDone()) {
                ((DatagramSend) slots.first()).done(slots.firstFailure());
                slots.removeFirst();
            }
            handles.completed(slots.next() - slots.size());
            while (!taken.isEmpty() && taken.peek().isDone()) {
                DatagramSend send = taken.poll();
                messages.remove(send.failure());
                if (released) {
                    return;
                }
            }
        } finally {
            completing = false;
        }
        if (again || full || !ready.isEmpty()) {
            again = false;
            channel.flushAgain();
        }
    }

    /** Returns whether flushed datagrams are in flight, or wait. */
    boolean isBusy() {
        return !taken.isEmpty() || !messages.isEmpty();
    }

    /** Releases all datagrams in flight. The queue pair is gone. */
    void release() {
        released = true;
        taken.clear();
        ready.clear();
        slots.release();
        handles.close();
    }
}
